#include "text/messages/topics.h"

namespace undertext {

const std::string_view kHomeRules = R"(
home:
  4* the {appliance} {home broken}
  2: the {wet appliance} is leaking | the {wet appliance} needs to be cleaned
  2: the {program appliance} is done
  5* can you {chore} {when}{q}
  5* {hey} did you {chore}{q}
  4: i'll {chore} {when} | please {chore} | someone has to {chore} | whose turn is it to {chore}{q}
  4: the {belonging is} {inside place} | where did you put the {belonging}{q}
  4: your {belonging is} {inside place} | found your {belonging} {inside place}
  4* the {worker} {worker news}
  4: i'm making {meal} for {mealtime} | what do you want for {mealtime}{q} | {meal} for {mealtime}{q}
  4: there's {meal} in the fridge
  3: the {room} {room news} | we should paint the {indoor room} {color} | i cleaned the {room} {past}
  3: move the {furniture} to the {indoor room}
  3: let me in | open the door | i'm locked out | i'm home | is anyone home{q} | who's home{q}
  3: leave the key {key place}
  3: the power is out | the wifi is down | it smells like {smell} in the {room}
  3: there's a {bug} in the {room} | turn off the {hot appliance}
  2: the neighbors {neighbor news} | someone is at the door | the kids broke the {furniture}
  2: the roof is leaking | the sink is clogged
  2: trash day is {weekday} | the lease ends in {month} | we're moving {move}
  2: the new place has {place has} | can you help me move {day}{q}
  2: add {household} to the list | did you lock the door{q} | are the windows closed{q}
  2: it's {intensity} cold in the {room}
  wake me up at {clock} | i left the {hot appliance} on | dinner is in the oven | the couch comes {when}
  set the alarm for {clock}

home broken:
  3* is broken | is making a weird noise | works again | is fixed | won't turn on | is too old
  broke down {past} | is beeping | smells funny | gets fixed {when}

chore:
  3* take out the trash | 2* do the dishes | 2* do the laundry | clean the {room} | water the plants
  feed {pet} | mow the lawn
  vacuum the {indoor room} | fold the laundry | empty the dishwasher | wash the car | make the beds
  sweep the porch | shovel the snow
  rake the leaves | iron my shirt | fix the {appliance} | change the sheets | set the table
  start the {program appliance} | cook {meal}
  close the window | turn on the heating | put the {grocery} away | defrost the {meat} | hang up the towels
  dust the shelves

meat:
  chicken | meat | fish | soup | bread | turkey

room:
  3* kitchen | 2* bathroom | 2* bedroom | living room | garage | basement | attic | hallway | balcony
  garden | closet | pantry
  laundry room | guest room | office | porch

indoor room:
  2* kitchen | 2* bedroom | bathroom | living room | basement | attic | hallway | guest room | office
  nursery

inside place:
  2* on the table | in the {room} | on the {furniture} | under the {furniture} | in your {bag} | in the car
  by the door
  on the counter | in the top drawer | behind the {furniture} | in the wash | next to the {appliance}

bag:
  bag | backpack | coat pocket | suitcase | purse

worker:
  2* plumber | 2* electrician | landlord | cleaner | painter | gardener | handyman | mailman | delivery guy
  locksmith | roofer

worker news:
  comes {when} | is here | can't come {day} | came {past} | fixed the {appliance} | is late
  wants {amount} | never called back
  needs the key | broke the {furniture} | left a note

room news:
  is a mess | looks {opinion} | is flooded | needs paint | is clean now | is finally done | smells of paint
  is too dark
  is freezing

key place:
  under the mat | with the neighbor | in the mailbox | on the hook | with {name} | behind the plant
  in the shed

smell:
  gas | smoke | paint | {meal} | wet dog | fish | coffee | roses | burnt toast

bug:
  2* spider | mouse | wasp | bee | moth | lizard | cockroach | fly

neighbor news:
  are so loud | invited us for {mealtime} | are moving out | have a new {animal} | complained again
  are fighting again
  borrowed the {gear} | got a {toy yard}

toy yard:
  pool | trampoline | hot tub | fire pit | rooster | drum kit

move:
  {when} | to {city} | in {month} | out {when} | on the {ordinal} | in together

place has:
  a garden | {small number} bedrooms | no elevator | a balcony | mice | a view | big windows | a fireplace
  new floors
)";

}  // namespace undertext
