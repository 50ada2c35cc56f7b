#include "text/messages/topics.h"

namespace undertext {

const std::string_view kMoneyRules = R"(
money:
  6* {hey} can you {lend} me {small amount}{q}
  4* i {paid} the {bill} {past}
  2: i forgot to pay the {bill} | i can't pay the {bill} {day} | i'll pay the {bill} {day}
  5: the {bill} is due {day} | the {bill} was {big amount} {month time} | did you pay the {bill}{q}
  5: who paid the {bill}{q}
  4: you owe me {small amount} {owed for} | i owe you {small amount} {owed for} | {person} owes me {amount}
  4: i'll pay you back {day}
  4: i sent you {small amount} {owed for} | did you get the money i sent{q} | {person} sent me {amount}
  3: it cost {amount} | it was only {small amount} | that's {small amount} each | split it {ways}
  3: that's too expensive | what a rip off
  3: my {card} {card news} | the atm {atm news} | payday is {weekday} | i get paid {when}
  3: i'm broke until {weekday}
  2: we need to save {amount} {each month} | i saved {amount} {month time} | we spent {amount} on {spent on}
  2: how much do i owe you{q} | how much did you pay for the {furniture}{q} | do you take cash{q}
  2: keep the change
  2: the rent went up by {amount} | the landlord wants {big amount} {day} | can you pay half of the {bill}{q}
  tax refund came in | i sold the {furniture} for {amount} | i won {amount} {past}
  {person} lost {amount} {past}
  the mechanic wants {big amount} | the ticket was {amount} | he charged me {big amount} for the {appliance}

lend:
  3* lend | 2* send | transfer

paid:
  5* paid | finally paid | got the {month} refund for

bill:
  3* rent | 2* electric bill | phone bill | water bill | gas bill | insurance | mortgage | internet bill
  parking ticket
  credit card bill | hotel bill | tuition | gym membership | plumber | babysitter | dentist bill | vet bill
  taxes

month time:
  this month | last month | in {month} | _ | so far

owed for:
  3* for {mealtime} | for the {owed thing} | _ | from {past from} | for {drink}

owed thing:
  tickets | taxi | groceries | {bill} | gas | pizza | gift | hotel | movie | flowers | deposit

past from:
  last night | last week | {weekday} | the trip | the party

ways:
  two ways | three ways | four ways | evenly | with {name} | {name} and me

card:
  3* card | credit card | debit card | bank card

card news:
  got declined | expired {past} | is blocked | is maxed out | got stolen {past} | is at home
  arrives {when} | was charged twice

atm news:
  ate my card | is out of cash | is broken | charged me {amount} | near {venue} works

each month:
  a month | this year | by {month} | for {country} | for the wedding | for the baby

spent on:
  groceries | gas | takeout | the car | {mealtime} | clothes | the kids | the garden | gifts
  the {appliance} | coffee | books
)";

}  // namespace undertext
