#include "text/messages/topics.h"

namespace undertext {

const std::string_view kGreetingRules = R"(
greeting:
  8* {hello} {name}
  6* {hello}
  8* {hello} {how}
  4* {hello} {name} {how}
  4: good morning [{name}] | good night [{name}] | good luck {occasion of luck} | sleep well [{name}]
  4: {how} | happy birthday {name} | happy birthday mom | happy birthday dad | happy birthday grandma
  4: long time no see [{name}]
  2: merry christmas | happy new year [{name}] | have a {opinion adjective} {span} | enjoy your {span}
  2: welcome home [{name}] | congratulations on the {achievement} | say hello to {people} for me
  hope you're well | miss you {name} | thinking of you {when told} | did you sleep well{q} | get home safe

hello:
  5* hey | 4* hi | 2* hello | morning | hey there | hi there | yo | hiya

how:
  5* how are you{q} | 3* how's it going{q} | 2* what's up{q} | 2* how was your {span}{q} | how's {person}{q}
  how are {people}{q} | how have you been{q} | how did it go{q} | how was {event noun}{q} | what's new{q}
  are you up{q} | are you awake{q} | you around{q} | did you eat{q} | everything ok{q}

opinion adjective:
  3* good | 2* great | nice | lovely | safe | relaxing | wonderful

span:
  4* day | 3* weekend | 2* evening | trip | holiday | vacation | flight | birthday | week | morning

occasion of luck:
  today | tomorrow | with the {achievement} | at {event noun} | on {weekday}

event noun:
  the interview | the exam | the wedding | the concert | the party | the meeting | the game | the movie
  the date
  the race | the recital | the presentation | the funeral | the conference | the play | the audition
  the dentist

achievement:
  2* new job | new house | baby | promotion | engagement | degree | new car | award | marathon | license
  book

when told:
  today | tonight | a lot lately | this week | every day
)";

}  // namespace undertext
