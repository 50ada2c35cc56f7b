#include "text/messages/topics.h"

namespace undertext {

const std::string_view kFeelingRules = R"(
feeling:
  7* i'm {intensity} {mood} {mood when}
  5* i {miss} {missed}
  4* {they} makes me {made}
  4: that makes me {made} | you sound {low mood} | why are you so {low mood}{q} | don't be {low mood}
  4: are you {mood}{q}
  4: i'm {worry mood} about {worry} | i can't stop thinking about {worry} | thanks for {thanks}
  4: sorry about {sorry}
  4: i had a {intensity day} day {day end} | i had a {dream} dream {past} | what a {opinion} day
  4: today was {opinion}
  3: i'm proud of {them} | i'm worried about {person} | i believe in {them} | you mean a lot to me
  3: i need a hug
  3: i can't wait {wait for} | i'm looking forward to {worry} | so excited for {worry} | not ready for {worry}
  3: {person} was {intensity} {mood} {past} | {person} hurt my feelings | i had a fight with {person}
  3: {person} won't talk to me
  2: i love {loved} | i hate {hated} | nobody {nobody} | i think i like {name} | {name} asked me out
  2: {name} kissed me {past}
  2: everything will be ok | it's not your fault | you can do it | don't give up | you deserve better
  2: take it easy | be kind
  i feel like crying | i laughed so hard | best day ever | worst day ever | i trust you
  can i be honest{q} | i forgive you
  do you still love me{q} | i was wrong about {them} | i'm over it | it was meant to be
  let's stay friends | i need space

low mood:
  2* sad | 2* tired | angry | nervous | jealous | scared | worried | upset | grumpy | stressed | quiet
  mad | shy | mean

worry mood:
  3* nervous | 2* excited | 2* worried | stressed | happy | scared | sad | confused | curious | upset
  hopeful

mood:
  3* happy | 2* tired | 2* sad | excited | nervous | angry | bored | lonely | proud | stressed | jealous
  scared | grateful
  worried | upset | calm | embarrassed | hungry | sleepy | confused | curious | disappointed | homesick
  cheerful | lucky
  annoyed | relieved | ashamed | hopeful | exhausted | shy | guilty | overwhelmed | restless | grumpy

made:
  3* happy | 2* laugh | smile | sad | angry | nervous | proud | cry | jealous | crazy | feel old
  feel better | feel safe

mood when:
  4* _ | 2* today | right now | lately | all the time | for you | these days | this week | {day}

miss:
  5* miss | really miss | already miss | don't miss

missed:
  4* you | {person} | {city} | {people} | our talks | home | the old days | your laugh | your cooking
  {pet} | summer | us
  {relative}'s {meal}

worry:
  2* tomorrow | the {test} | the interview | the trip | the future | the wedding | the results | money
  {person} | the move
  my job | the weekend | christmas | the baby | {city} | what you said | the first day | the concert
  {weekday}

thanks:
  2* everything | the {gift} | listening | your help | {mealtime} | the ride | being there | the advice
  coming {past}
  the {grocery} | understanding | waiting | the flowers | the photos | calling

sorry:
  2* {past sorry} | that | the noise | the mess | your {belonging} | the delay | the misunderstanding
  {pet} | the wait

past sorry:
  last night | yesterday | this morning | earlier | {weekday}

intensity day:
  2* bad | 2* long | 2* good | great | rough | crazy | strange | quiet | busy | wonderful | stressful

day end:
  3* _ | at work | at school | with {name} | without you

dream:
  2* weird | bad | strange | scary | funny | beautiful

wait for:
  3* to see {them} | for {day wait} | to go home | for summer | to tell {them} | to go to {city}
  to meet the baby

day wait:
  tomorrow | the weekend | {weekday} | christmas | my birthday | the holidays | {month}

loved:
  3* you | your {clothes} | this song | rainy days | {craft} | {city} | my job | {meal} | sundays
  your smile | autumn

hated:
  mondays | this weather | waiting | traffic | my job | winter | goodbyes | spiders | being late | {meal}
  the dentist

nobody:
  understands me | told me | listens | cares | knows yet | came | answered | asked me
)";

}  // namespace undertext
