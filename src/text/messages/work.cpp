#include "text/messages/topics.h"

namespace undertext {

const std::string_view kWorkRules = R"(
work:
  6* {hey} did you {get work} the {document}{q}
  6* can you {work on} the {document} {deadline}{q}
  5* the meeting is {meeting news}
  5: i'm in a meeting {until} | i'll be in the office {until} | i'm working {workplace} {day}
  4* {name} is {office state} {day}
  4* the {document} is {document state}
  4* i'll {work on} the {document} {when}
  3* the {client} {client news}
  3* the {office machine} {broken}
  3* my boss {boss news}
  3: i have {small number} meetings {day} | i got the {job result} | my shift {shift}
  3: can you cover my shift {day}{q}
  3: {hey} who is on call {day}{q} | do you have the {work thing}{q} | where is the {work thing}{q}
  2: let's discuss it {when} | let's talk about the {document} {when}
  2: please review the {document} {deadline}
  2: i sent you the {document} {past} | check your email | i forwarded you the {document}
  2: the deadline is {weekday}
  2: need to {work on} the {document} first | just finished the {document} | stuck on the {document}
  i quit my job {past} | i got a raise | i need a break | long day at work | lunch break at {clock}
  {name} got promoted
  the new {role} starts {when} | we're hiring a {role} | the {role} called in sick | we need a new {role}

get work:
  2* get | 2* see | read | send | finish | print | check | sign

work on:
  2* send | finish | review | update | print | check | fix | sign | translate | rewrite | scan | edit
  approve | present

document:
  3* report | 2* slide deck | 2* contract | budget | invoice | proposal | presentation | schedule
  spreadsheet | draft | memo
  agenda | brochure | newsletter | design | code | survey | summary | press release | estimate | order form

document state:
  ready | 2* almost done | late | attached | on your desk | too long | wrong | finally done
  missing a page | due {day}
  approved | with {name} now | full of mistakes | in the shared folder | not signed yet | out of date

deadline:
  3* {when} | by {weekday} | by {clock} | asap | before the meeting | by the end of the week | by noon

meeting news:
  3* at {clock} | cancelled | moved to {clock} | moved to {weekday} | in room {room number} | running late
  over | postponed
  {day} | online today | about the {document} | with the {client} | in the big room | still going

room number:
  2 | 4 | 7 | 12 | 101 | 204 | 310

until:
  2* until {clock} | all day | all {daypart} | for {duration}

workplace:
  2* from home | late | the night shift | with {name} | on the {document} | overtime | the early shift
  from {city}

office state:
  out of office | on leave | on vacation | in the office | late again | presenting | off | on a call
  training the interns
  in {city} for work | covering for {name} | busy | at the factory | at a conference

client:
  2* client | 2* customer | boss | manager | supplier | landlord | lawyer | accountant | inspector
  contractor | investor

client news:
  called {past} | wants a discount | loved the {document} | is not happy | cancelled the order
  wants to meet {when}
  is waiting {at place} | signed the contract | changed the deadline | asked for the {document}
  hasn't paid yet
  is coming {when} | complained about the {document}

office machine:
  2* printer | 2* server | projector | elevator | scanner | network | coffee machine | badge reader
  heating | website
  copier | wifi

broken:
  is down again | is broken | works again | is out of paper | needs a reboot | is being fixed
  is so slow today
  stopped working {past} | is making a weird noise

boss news:
  is on vacation | loved the idea | wants the {document} {deadline} | yelled at me {past} | said no
  gave me a raise
  is leaving in {month} | is {intensity} happy | moved the deadline | is in a bad mood
  said yes to the {document}
  wants to talk {when}

job result:
  2* job | promotion | interview | raise | offer | transfer | contract

shift:
  starts at {clock} | ends at {clock} | got changed | was crazy | is almost over | was quiet

work thing:
  key to the office | projector cable | stapler | login for the {office machine} | {client}'s address
  parking pass
  meeting link | whiteboard marker | company card | visitor badge | calendar invite | box of samples

role:
  engineer | nurse | designer | intern | accountant | cook | driver | receptionist | teacher | electrician
  editor | cashier
  plumber | manager | cleaner | mechanic | waiter | developer | pharmacist | carpenter
)";

}  // namespace undertext
