#include "text/messages/topics.h"

namespace undertext {

const std::string_view kPlanRules = R"(
plan:
  8* {hey} are you free {day}{q}
  8* {hey} {invite} {when}{q}
  6* let's meet {when} {near place}
  6* see you {when} at {venue} | see you {when} at {eatery}
  5* {hey} can we meet {when} instead{q}
  4* i can't make it {day} | 4* sorry i can't come {day} {excuse} | 3* are we still on for {day}{q}
  5* meet me {near place} {when}
  5: i'll pick you up {when} | i'll pick you up {near place} {when}
  4* running {count of minutes} minutes late [sorry]
  4* {hey} do you want to {activity} {day}{q}
  4* we're going to {activity} {day} want to come{q}
  3* {person} is having a {party} {day}
  3: what are you doing {day}{q} | what time does {event} start{q} | where should we meet{q}
  3: when are you coming{q}
  3: {event} starts at {clock} | {event} was moved to {weekday} | {event} is cancelled
  3: i booked a table for {small number} at {clock} | the table is booked for {clock} under {name}
  3: bring {bring} {please} | don't forget {bring} {day} | can you bring {bring} {day}{q}
  2: {person} can't come {day} | is {person} coming {day}{q} | {people} are coming {when}
  2: who else is coming{q}
  2: let's {activity} {day} | let's cancel and {activity} {day} | how about {clock} {near place}{q}
  2: save me a seat | i got tickets for {event} | doors open at {clock} | dress code is {dress}

excuse:
  3* i'm sick | i have to work | the car broke down | my train is late | i have a {appointment}
  {pet} is sick
  something came up | i'm too tired | {relative} is visiting | i'm babysitting

invite:
  3* want to get {mealtime} | want to grab {grab} | dinner at ours | fancy a walk | coffee | want to come over
  want to watch a movie | drinks at {eatery} | want to go {to place} | lunch at {eatery} | shall we {activity}
  movie night at {name}'s place | are you up for {mealtime}

grab:
  3* a coffee | 2* a beer | 2* a drink | some tea | a bite | a pizza | an ice cream | a sandwich | some sushi

activity:
  3* watch a movie | 2* go for a walk | 2* go swimming | play tennis | go hiking | go bowling | play cards
  go dancing
  go shopping | have a picnic | ride bikes | play football | see a show | go skating | cook together
  go camping
  play chess | visit {person} | see {person} | go fishing | go climbing | have a barbecue | try {eatery}
  go to {venue}
  play board games | go for a run | do yoga | bake a cake | order {meal} | make {meal} | sing karaoke
  go kayaking
  watch the game | study together | go sledding | pick berries | go to a concert | feed the ducks

party:
  3* party | 2* barbecue | birthday party | housewarming | dinner party | baby shower | farewell dinner
  costume party | garden party | game night | surprise party | yard sale | reunion

event:
  2* the party | 2* the movie | 2* the game | the concert | the show | the wedding | the match | the play
  the parade
  the festival | the meeting | the race | the workshop | book club | choir practice | the fireworks
  the barbecue

appointment:
  2* meeting | dentist appointment | doctor's appointment | deadline | class | haircut | late shift
  job interview

bring:
  2* {drink} | 2* the {belonging} | a cake | some {grocery} | {meal} | your {belonging} | a blanket
  some ice | cups
  plates | the tickets | the speaker | folding chairs | a salad | snacks | the board game | cash | flowers
  a gift

dress:
  casual | black tie | smart casual | white | whatever you like | costumes | warm clothes
)";

}  // namespace undertext
