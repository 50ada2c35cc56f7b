#include "text/messages/topics.h"

namespace undertext {

const std::string_view kTravelRules = R"(
travel:
  6* my {ride} {ride news}
  5: i'm {at station} | just landed in {city} | just arrived in {city} | i'm on the {vehicle} now
  5: on the {vehicle} to {city}
  5* the traffic is {traffic} {traffic place}
  4: we land at {clock} | we're leaving {when} | leaving {when} | i'll be {travel when} | boarding {boarding}
  4: {hey} which {gate} are you at{q} | what time is your {ride}{q} | when do you land{q} | did you land{q}
  4: i booked the {booking} {booking detail} | the {booking} {booking news}
  4: we're going to {destination} {season} | have you been to {destination}{q} | i miss {destination}
  3: did you pack the {belonging}{q} | don't forget your {belonging} | i left my {belonging} {left place}
  3: i forgot my {belonging}
  3: turn {side} at {landmark} | it's next to {landmark} | keep going past {landmark}
  3: wait for me near {landmark}
  3: i missed the {vehicle} | i'm stuck in traffic | i took the wrong {vehicle}
  3: next {vehicle} is at {clock} | i'm lost
  2: the weather in {city} is {opinion} | it's {weather} in {city} | it's {weather} here
  2: greetings from {destination} | {city} is {opinion}
  2: can you drive {day}{q} | can you give me a ride {to place}{q} | i need a ride {to place} {when}
  2: need a lift {to place}
  2: out of gas | flat tire | we're {count of minutes} minutes away | how far are you{q}
  2: text me when you land
  the {road thing} is closed | take the {road thing} | avoid the {road thing} [{day}]
  share your location {please}

ride:
  3* train | 3* flight | 2* bus | ferry | taxi | connection

ride news:
  3* is delayed | 2* is late | is cancelled | leaves at {clock} | arrives at {clock} | is on time
  is delayed by {duration}
  just left | is full | is boarding | gets in {when} | was {opinion} | leaves from {gate} {gate number}

gate:
  gate | platform | terminal

gate number:
  2 | 3 | 5 | 7 | 9 | 12 | 14 | 22

at station:
  2* at the station | 2* at the airport | at the bus stop | at {gate} {gate number} | in a taxi
  in the parking lot | at customs
  at the hotel | on platform {gate number} | at the rental desk | at the wrong station

vehicle:
  3* train | 3* bus | plane | ferry | tram | subway | boat | shuttle | metro

traffic:
  2* terrible | 2* bad | crazy | not too bad | really slow | fine | awful

traffic place:
  today | on the highway | near the bridge | downtown | by the tunnel | _ | this {daypart} | near {venue}

travel when:
  home {when} | late | there {when} | back {when} | in {city} {day} | at the airport {when}
  gone for {long duration}

boarding:
  now | in {count of minutes} minutes | at {clock} | soon | late

booking:
  3* hotel | 2* flights | tickets | campsite | cabin | rental car | hostel | apartment | tour | train tickets

booking detail:
  for {month} | for {small number} nights | {past} | in {city} | for {small number} people
  for {big amount} | near the beach

booking news:
  cost {big amount} | can be changed {day} | can't be refunded | got cancelled | confirmed {past}
  must be paid {when}

destination:
  3* {city} | 2* {country} | the mountains | the coast | the lake house | the islands | the desert
  the countryside

season:
  in {month} | this summer | next {month} | for {long duration} | in the spring | for christmas
  in the fall | next year

left place:
  at the hotel | on the {vehicle} | at {venue} | in the taxi | in {city} | at security | at your place
  at {eatery}

side:
  2* left | 2* right

landmark:
  the lights | the church | the bakery | the roundabout | the bridge | the red house | the school
  the statue | the tower
  the second corner | the gas station | the stop sign | the fountain | the old mill | the windmill

weather:
  2* sunny | 2* raining | cold | freezing | snowing | hot | windy | cloudy | foggy | humid | stormy | pouring

road thing:
  2* highway | bridge | tunnel | main road | back road | coast road | ring road | bike path | toll road
)";

}  // namespace undertext
