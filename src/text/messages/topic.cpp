#include "text/messages/topics.h"

namespace undertext {

const std::string_view kTopicRules = R"(
topic:
  15* reply
  16* combined
  7* greeting
  15* plan
  10* family
  10* work
  8* shopping
  8* travel
  5* health
  6* money
  5* school
  8* hobby
  8* feeling
  9* home
  3* private

# A question mark, now and then: few people bother.
# Two thoughts in one message.
combined:
  5* {ack} {promise}
  5* {status} {follow up}
  4* hey {name} {question}{q}
  3* {hey} did you hear {young person} {young news}
  3* i have a {symptom} {consequence} | i'm {intensity} {mood} {consequence}
  2: i'm making {meal} can you get {grocery}{q} | we're out of {grocery} can you stop at the {shop}{q}
  2: i'm {worry mood} about {worry} can we talk {when}{q} | thanks for {thanks} see you {when}
  2: happy birthday {name} see you {day} | sorry about {sorry} i'll call you {when}
  2: good luck {name} call me {when}
  2: {name} and i are going to {activity} {day} | {relative} called {past} {relative asks}
  2: i saw {name} at {venue} {past}
  i dreamed about {missed} {past} | the {appliance} broke can i use yours{q} | {name} said you're {at place}

promise:
  3* i'll {chore} {when} | i'll call {relative} {when} | 2* i'll pick you up {when}
  2* i'll get {grocery} {when}
  i'll {work on} the {document} {when} | i'll be {travel when} | i'll bring {bring} | i'll ask {person} {when}
  i'll pay the {bill} {day} | i'll walk {pet} {when} | i'll meet you {near place} {when}
  i'll make {meal} {day}
  i'll take {name} to {venue} {day} | i'll send you the {document} {when} | i'll buy the tickets {day}

status:
  3* i'm {at place} | 2* i'm still {at place} | 2* just left {venue} | my {ride} {ride news}
  i'm stuck in traffic
  i missed the {vehicle} | the traffic is {traffic} | i'm working late | i forgot my {belonging}
  my phone is dying

follow up:
  2* see you {when} | start without me | can you {chore}{q} | can you pick up {child}{q} | call you {when}
  don't wait for me
  i'll be there {when} | home {when} | save me some {meal} | can you tell {person}{q}
  can you bring {bring}{q}

question:
  3* are you free {day} | did you get the {document} | are you {at place} | can you lend me {small amount}
  can i call {when}
  2* do you want to {activity} {day} | how was {event noun} | is {person} coming {day}
  can you {chore} {when}
  do you still have my {belonging} | are you coming to {event} | what should i bring {day}
  did you finish the {document}
  where did you buy the {furniture} | can i borrow your {gear} | do you know a good {worker}
  did you watch the {match}

consequence:
  2* can we meet {day} instead{q} | i'm staying home {day} | i can't come {day} | i need to sleep
  i'm leaving early
  can you cover for me{q} | call me {when} | i don't know why | let's talk {when}

relative asks:
  call back | it's about {worry} | about {mealtime} {day} | just to say hi | and asked about you

ack:
  3* ok | 2* sorry | 2* thanks | sure | great | yes | no | haha | perfect | cool | wow | right

q:
  3* _
  ?

hey:
  6* _
  2* hey
  hi | ok | so | oh | well | hey {name} | {name}

please:
  3* _
  2* please
  thanks | for me

intensity:
  3* so | really | 2* very | pretty | a bit | too

opinion:
  3* good | 2* great | 2* nice | fine | lovely | amazing | perfect | awesome | terrible | awful | boring
  weird
  fantastic | brilliant | wonderful | strange | funny | hilarious | interesting | confusing | disappointing
)";

}  // namespace undertext
