#include "text/messages/topics.h"

namespace undertext {

const std::string_view kHealthRules = R"(
health:
  4* {hey} i have a {symptom} {since}
  3* i've had a {symptom} since {past since}
  5* {person} has {illness}
  4: my {body part} {hurts} | how is your {body part}{q}
  4: i have a {medical} appointment {when} | the {practice} appointment is at {clock} | i'm at the {practice}
  4: are you feeling better{q} | i feel {feel} {today} | feeling {feel} {today} | hope you feel better soon
  3: take your {medicine} {medicine time} | did you take your {medicine}{q} | can you get my {medicine}{q}
  3: the {doctor} said {advice} | {relative} is in the hospital | {person} is out of surgery
  3: the surgery is {when}
  3: i need to see a {doctor} | i got my {shot} {past} | i can't sleep | didn't sleep at all last night
  3: i threw up {past}
  2: call an ambulance | is it contagious{q} | do you have a thermometer{q} | drink more water | get some rest
  2: i ran {small number} miles {past} | i lost {small number} pounds | started {exercise} again
  2: {exercise} class at {clock}
  i'm allergic to {allergen} | no {allergen} for {name} please | stay in bed {today}
  {person} fainted {at place}

symptom:
  3* headache | 2* fever | 2* cold | cough | sore throat | runny nose | stomach ache | rash | toothache
  backache | migraine
  stiff neck | swollen ankle | bad cramp | nosebleed | blister | earache | bruise

since:
  3* _ | 2* today | again | right now | from the {sport cause}

past since:
  yesterday | {weekday} | last night | this morning | last week

sport cause:
  gym | flight | run | game | cold weather | air conditioning | new chair

illness:
  2* the flu | a cold | a fever | an infection | the chickenpox | food poisoning | a broken {bone}
  a concussion | an allergy
  a sprained ankle | a stomach bug | pink eye | an ear infection | lice | bronchitis | covid

bone:
  arm | leg | wrist | toe | finger | rib | collarbone

body part:
  2* back | 2* knee | 2* head | shoulder | neck | foot | ankle | wrist | elbow | hip | ear | throat
  stomach | tooth | leg | eye

hurts:
  3* hurts | still hurts | is better | is swollen | is killing me | hurts a lot | is sore | feels numb
  is getting worse

medical:
  2* dentist | 2* doctor's | eye | physio | hospital | vet | therapy | blood test | checkup | scan

doctor:
  3* doctor | 2* dentist | therapist | nurse | surgeon | specialist | eye doctor | vet | physio

practice:
  3* doctor | 2* dentist | vet | physio | hospital | eye doctor | clinic

feel:
  2* better | 2* sick | tired | dizzy | terrible | great | weak | fine | awful | sleepy | much better
  nauseous

today:
  2* today | 2* _ | now | this {daypart} | again

medicine:
  2* pills | medicine | vitamins | antibiotics | inhaler | eye drops | painkillers | ointment | insulin
  allergy pills

medicine time:
  {when} | with food | before bed | twice a day | now | every {hour} hours

advice:
  it's nothing | to rest | no sports for {long duration} | it's just a cold | i'm fine | it's viral
  to drink more water
  to come back {when} | i need a scan | no alcohol | surgery isn't needed | to walk more | to stop smoking

shot:
  flu shot | vaccine | booster | results back | tetanus shot | stitches out

exercise:
  2* running | 2* yoga | swimming | pilates | boxing | spinning | cycling | lifting weights | stretching

allergen:
  peanuts | shellfish | cats | pollen | gluten | milk | wheat | soy | bees | eggs | dust | penicillin
)";

}  // namespace undertext
