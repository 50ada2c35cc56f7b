#include "text/messages/topics.h"

namespace undertext {

const std::string_view kPlaceRules = R"(
venue:
  3* the station | 2* the office | 2* the gym | 2* the park | the library | the airport | the pool | the beach
  the mall | the market | the museum | the theater | the stadium | the harbor | the bakery | the pharmacy
  the hospital | the bank | the post office | the bus stop | the parking lot | the garage | the zoo
  the church
  the town hall | the lake | the bridge | the school | the hotel | the campus | the corner shop | the cinema
  the playground | the gas station | the hardware store | the coffee shop | the train station | the clinic

eatery:
  3* the cafe | 2* the pub | the bar | the diner | the pizza place | the sushi place | the new restaurant
  the food truck | the bistro | the burger place | the thai place | the noodle bar | the taco stand
  the tea house
  the ice cream shop | the rooftop bar | the brewery | the steakhouse

at place:
  4* at home | 3* at work | 5* at {venue} | 2* at {eatery} | at {name}'s place | in the car | on the bus
  on the train
  downtown | in town | outside | upstairs | in the kitchen | in the garden | in a meeting | in class

to place:
  4* home | 5* to {venue} | 2* to {eatery} | to work | to bed | to {name}'s place | downtown | back to {venue}

near place:
  near {venue} | in front of {venue} | behind {venue} | across from {venue} | next to {eatery}
  by the entrance
  by the fountain | at the corner | by the main gate | at the back door

city:
  paris | london | berlin | madrid | rome | lisbon | vienna | prague | dublin | oslo | athens | boston
  chicago
  denver | seattle | toronto | montreal | tokyo | sydney | cairo | istanbul | amsterdam | barcelona
  copenhagen
  milan | munich | brussels | budapest | warsaw | edinburgh | nairobi | lima | singapore | bangkok

country:
  italy | spain | portugal | greece | france | japan | mexico | canada | morocco | iceland | norway | ireland
  croatia | turkey | peru | brazil | india | kenya | vietnam | scotland
)";

}  // namespace undertext
