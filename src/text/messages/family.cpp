#include "text/messages/topics.h"

namespace undertext {

const std::string_view kFamilyRules = R"(
family:
  6* {hey} can you pick up {child} {from} {when}{q}
  4* {young person} {young news}
  4* {relative} {did news}
  2: {expecting} is pregnant | {expecting} had the baby {past} | it's a boy | it's a girl
  5* {person} is {doing}
  5* {people} are {doing}
  4* tell {relative} {told}
  4: did you call {caller}{q} | did {they} {do chore}{q} | call {caller} {when} | call {caller} back {please}
  4* {one child} {child news}
  4* {pet} {pet news}
  3: {hey} is {relative} home{q} | when is {relative} coming{q} | where is {one child}{q}
  3: where are {people}{q}
  3: dinner is ready | dinner is at {clock} | we're having {meal} for {mealtime} | {relative} made {meal}
  3: {relative} wants to know if you're coming {day} | {relative} says hi | {relative} is worried about you
  3: can {relative} watch {child} {day}{q} | who is picking up {child}{q} | i'll take {name} {from school}
  3: what should we get {relative} for {occasion}{q} | i got {relative} a {gift} for {occasion}
  3: i got a {gift} for {relative}
  2: love you mom | love you dad | give {child} a kiss from me | {one child} misses you
  2: kiss {people} good night for me
  2: {relative}'s birthday is on the {ordinal} | {turns} {day} | don't forget {relative}'s birthday
  2: did you feed {pet}{q} | who walked {pet}{q} | can you walk {pet} {when}{q} | {pet} needs a walk

child:
  3* the kids | 2* the baby | {name} | the little one | your son | your daughter | the twins

from:
  3* from school | from practice | from daycare | from the bus stop | from {venue} | from {name}'s place
  from swimming

from school:
  to school {day} | to practice | to daycare | to the doctor {when} | to {venue}

caller:
  3* mom | 2* dad | grandma | grandpa | your sister | your brother | your aunt | {name} | the school | the vet

one child:
  2* the baby | 2* {name} | the little one | your son | your daughter

expecting:
  my sister | my cousin | your sister | my aunt | our teacher

turns:
  grandma turns 80 | grandpa turns 70 | mom turns 50 | dad turns 60 | {name} turns {age}
  my sister turns {age}

young news:
  got the job | passed the test | is getting married {wedding time} | broke up with {name}
  moved to {city} | got engaged {past}
  graduated {past} | got a new {gadget} | found a {animal} | is moving out {when} | bought a {car}
  crashed the {car} | said yes
  won the {contest} | came back from {city} | got a tattoo | is dating {name} | shaved his beard
  dyed her hair {color}
  quit smoking | started a band | has a new job | lost the {belonging one} | fell asleep {at place}

did news:
  called you {past} | lost the {belonging} | bought a {car} | got a new {gadget} | went {to place}
  came back from {city}
  found your {belonging} | fell asleep {at place} | sold the {car} | adopted a {animal} | said yes
  won the {contest}
  made {meal} {past} | left {past} | arrived {past} | sent you a {gift} | baked {meal} for you
  forgot the {belonging}

wedding time:
  in {month} | next year | in the spring | this summer | in {city} | on the {ordinal}

car:
  2* car | house | motorcycle | boat | van | truck | camper

animal:
  2* dog | cat | puppy | kitten | rabbit | parrot | pony

contest:
  game | lottery | race | match | spelling bee | tournament | raffle | science fair

doing:
  asleep | {at place} | on the phone | still {at place} | sick | cooking {meal} | watching tv
  in the shower | mad at me
  staying for {mealtime} | looking for the {belonging} | arriving {when} | coming over {when}
  leaving {when} | baking
  excited about {day} | visiting {day} | waiting {at place} | working late | painting the {room} | ready to go

told:
  i said hi | i'll be late | dinner is ready | to call me | i'm {at place} | i'll call {when}
  happy birthday | we're fine
  the {belonging is} in the car | not to wait | we're leaving {when} | to bring the {belonging}
  thank you from me

do chore:
  call | take out the trash | do the dishes | eat | get home ok | feed {pet} | do the homework
  lock the door | pay the {bill}
  find the {belonging} | take the medicine | talk to {person} | walk {pet} | clean the {room}
  fix the {appliance}

child news:
  lost a tooth | took the first steps | has a fever | won't sleep | had fun {at place} | needs new {pairs}
  has homework
  made a drawing for you | wants {meal} again | fell off the {toy} | got a sticker today
  is finally asleep | ate everything
  has a school play {day} | drew on the wall | asked for you | is teething | learned to swim
  needs a costume for {weekday}

toy:
  bike | swing | scooter | trampoline | slide | sofa | skateboard

pet news:
  ate my {clothes} | is at the vet | ran away | needs a walk | is asleep on the {furniture}
  threw up on the {furniture}
  is hungry | chased a squirrel | got stuck in the tree | scratched the {furniture} | won't stop barking
  lost weight
  has fleas | hid under the {furniture} | stole the {grocery} | needs a bath | is limping | loves you

occasion:
  3* christmas | the wedding | the anniversary | graduation | mother's day | father's day | easter

gift:
  2* book | {gadget} | {color} scarf | necklace | puzzle | gift card | plant | mug | perfume
  bottle of wine | photo album
  board game | pair of {pairs} | painting | telescope | guitar | cookbook | robe

age:
  5 | 7 | 10 | 13 | 16 | 18 | 21 | 30 | 40
)";

}  // namespace undertext
