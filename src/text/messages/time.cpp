#include "text/messages/topics.h"

namespace undertext {

const std::string_view kTimeRules = R"(
hour:
  1 | 2 | 3* 3 | 2* 4 | 5* 5 | 6* 6 | 6* 7 | 5* 8 | 3* 9 | 2* 10 | 11 | 12

hour word:
  one | two | three | four | five | six | seven | eight | nine | ten | eleven

minute:
  9* 30 | 4* 15 | 4* 45 | 10 | 20

clock:
  6* {hour} | 4* {hour} {minute} | 2* half past {hour word} | quarter to {hour word}
  quarter past {hour word}
  {hour} pm | {hour} am | noon | midnight | {hour word} | {hour word} thirty

weekday:
  monday | tuesday | wednesday | thursday | 2* friday | 2* saturday | sunday

month:
  january | february | march | april | may | june | july | august | september | october | november | december

ordinal:
  1st | 2nd | 3rd | 4th | 5th | 8th | 10th | 12th | 14th | 15th | 18th | 20th | 21st | 22nd | 24th | 25th
  28th | 30th

daypart:
  3* morning | 2* afternoon | 3* evening | night

day:
  6* tomorrow | 4* tonight | 3* today | 3* on {weekday} | 2* this weekend | tomorrow {daypart}
  this {daypart}
  next week | on {weekday} {daypart} | next {weekday} | the day after tomorrow | on the {ordinal}

when:
  5* {day} | 4* at {clock} | {day} at {clock} | later | after work | after lunch | after dinner
  before {clock}
  around {clock} | in {duration} | in the {daypart}

count of minutes:
  4* 5 | 5* 10 | 3* 15 | 3* 20 | 2* 30 | 40 | 45 | five | ten | twenty

duration:
  5* {count of minutes} minutes | 3* half an hour | 4* an hour | 2* two hours | a few minutes
  a couple of hours
  three hours

long duration:
  a week | two weeks | a month | three days | a few days | ten days | six months | a year | a couple of weeks

past:
  4* yesterday | 3* last night | 2* this morning | last week | last weekend | on {weekday} | earlier
  two days ago
)";

}  // namespace undertext
