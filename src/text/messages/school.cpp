#include "text/messages/topics.h"

namespace undertext {

const std::string_view kSchoolRules = R"(
school:
  6* {hey} did you do the {subject} homework{q}
  5* the {subject} {test} is {when}
  4* i {passed} the {subject} {test}
  4: what page is the {subject} homework on{q} | can i copy your {subject} notes{q}
  4: do you have the {subject} notes{q}
  4* {teacher} {teacher news}
  4: let's study {subject} {when} | studying {subject} {at place} | i hate {subject} | i love {subject}
  4: {subject} is {opinion}
  3: the {assignment} is due {day} | i haven't started the {assignment} | working on my {assignment}
  3: almost done with my {assignment}
  3: class is cancelled {day} | class starts at {clock} | no school {day} | school ends at {clock}
  3: what room is {subject} in{q}
  2: {name} got {grade} in {subject} | i got {grade} on the {assignment} | what did you get in {subject}{q}
  2: parent teacher night is {when} | the school called about {name} | {name} got detention
  2: field trip to {venue} {day}
  2: who is in your group{q} | want to be partners for the {assignment}{q}
  2: can you explain question {question number}{q}
  i forgot my {school thing} | did you find my {school thing}{q} | the library is closed {day}
  graduation is {when}
  i got into the {program} program | {name} dropped {subject} | thesis defense is {when}
  the bus was late again

subject:
  3* math | 2* english | 2* history | biology | chemistry | physics | geography | spanish | french | german
  art | music
  statistics | economics | philosophy | programming | algebra | geometry | drama | latin | psychology | gym

test:
  3* test | 3* exam | quiz | final | midterm | presentation | lab

passed:
  3* passed | 2* failed | forgot about | aced | studied for | missed | barely passed | have to retake

teacher:
  3* the teacher | the professor | our tutor | the principal | the coach | the librarian | the substitute

teacher news:
  is sick {day} | gave us more homework | moved the {test} | was {intensity} mad {today at school}
  liked my {assignment}
  wants to see you {when} | posted the grades | is {intensity} {teacher kind} | caught {name} cheating
  retires in {month}
  canceled class {day} | extended the deadline

today at school:
  today | {past}

teacher kind:
  2* nice | strict | funny | boring | kind | patient | fair

assignment:
  3* essay | 2* project | report | paper | presentation | poster | lab report | reading | worksheet
  thesis | book report

grade:
  an a | a b | a c | an a plus | full marks | ninety percent | a b minus | seventy percent

question number:
  2 | 3 | 4 | five | six | seven

school thing:
  2* textbook | calculator | locker key | pencil case | ruler | gym clothes | homework | eraser
  glue stick | lab coat

program:
  nursing | law | design | exchange | medical | honors | music | summer | engineering
)";

}  // namespace undertext
