#include "text/messages/topics.h"

namespace undertext {

const std::string_view kPrivateRules = R"(
# What a client would least like to see again on somebody else's screen. All of it is made up.
private:
  6* the {door} code is {code}
  5: my {pin} pin is {code} | the {account} password is {password} | my password is {password}
  5: {name} lives at {house number} {street} | my new address is {house number} {street}
  5: send it to {house number} {street}
  5: i was diagnosed with {diagnosis} | {person} has {diagnosis} don't tell anyone
  5: the test for {diagnosis} was {result}
  4: my account number is {digits} | transfer it to account {digits} | my social ends in {code}
  4: card number ends in {code}
  3: the spare key is {hidden} | the alarm is off {day} | nobody is home until {weekday}
  3: the safe code is {code}
  3: please don't tell {person} {secret} | {secret} but nobody knows yet | don't tell anyone but {secret}
  2: i make {salary} a year | {name} makes {salary} a year | my salary is {salary} | they offered me {salary}
  2: my {medicine private} dose is {dose} | i started {medicine private} {past}
  2: my flight confirmation is {code} {letter} {letter}

door:
  2* door | gate | garage | alarm | office | locker | building | bike lock | cabin

code:
  2* {digit} {digit} {digit} {digit} | {digit word} {digit word} {digit word} {digit word}

digits:
  {digit} {digit} {digit} {digit} {digit} {digit}
  {digit word} {digit word} {digit word} {digit word} {digit word} {digit word}

account:
  2* wifi | bank | phone | email | laptop | cloud | work | library | credit card

pin:
  bank | phone | credit card | debit card | sim card

password:
  {color} {password noun} {digit} {digit} | {password noun} {password noun} {digit}
  {password noun} {color} {digit word}

password noun:
  tiger | kettle | maple | rocket | lantern | pepper | anchor | velvet | falcon | pickle | comet | walnut
  marble | otter
  saddle | thunder | biscuit | pirate | violet | canyon | domino | cactus | lemon | compass

house number:
  3 | 8 | 14 | 17 | 22 | 29 | 31 | 46 | 58 | 63 | 77 | 85 | 92 | 110

street:
  maple street | oak lane | mill road | harbor street | station road | hill street | river lane
  church street
  garden avenue | willow road | chestnut avenue | bridge street | orchard lane | meadow road | king street
  park avenue

diagnosis:
  diabetes | asthma | depression | anxiety | anemia | epilepsy | cancer | arthritis | hepatitis | pneumonia
  insomnia
  adhd | celiac disease | high blood pressure | a heart murmur | bipolar disorder | lupus | shingles | gout

result:
  positive | negative | not clear

hidden:
  under the flower pot | behind the meter | in the blue box | under the third stone | above the door frame
  in the shed

secret:
  i'm pregnant | i lost my job | we're getting divorced | i'm seeing {name} | i'm in debt
  i failed the exam | i'm sick
  i'm leaving {name} | i'm in therapy | i relapsed | we're adopting | i'm moving to {city} | i dropped out
  i saw {name} cry

salary:
  38 thousand | 45 thousand | 52 thousand | 61 thousand | 74 thousand | ninety thousand

medicine private:
  insulin | antidepressant | thyroid | blood pressure | anxiety | epilepsy | chemo

dose:
  10 | 20 | 25 | 40 | 50 | 75 | 100 | two a day | one every night

letter:
  k | m | q | r | t | x | z
)";

}  // namespace undertext
