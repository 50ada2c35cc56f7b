#include "text/messages/topics.h"

namespace undertext {

const std::string_view kShoppingRules = R"(
shopping:
  7* can you get {grocery} {on the way}{q}
  6* we need {grocery} and {grocery}
  5* we're out of {grocery} | 3* we're out of {household} | buy {household} {please}
  4: don't forget the {grocery} | do we have {grocery}{q} | do we need {grocery}{q}
  4: get {grocery} and {household}
  4: i'm at the {shop} do you need anything{q} | i'm at the {shop} what size{q} | going to the {shop} {when}
  4* {grocery} {grocery} and {grocery} {please}
  3: the {pairs} {fit} | the {furniture} {delivered} | my package {package news} | the {gadget} {gadget news}
  3: i bought a {color} {furniture} {past} | i ordered a new {gadget} {past}
  3: i found a cheap {furniture} online
  3: how much is the {furniture}{q} | how much was the {gadget}{q} | i returned the {gadget}
  3: do they have it in {color}{q} | what size are you{q}
  3: there's a sale on {grocery} {day} | the {shop} closes at {clock} | is the {shop} still open{q}
  3: the {shop} is closed {day}
  2: they only had {color} ones | do you like the {color} {clothes}{q} | i returned the {clothes}
  2: i'm taking it back
  2: no more {grocery} left | the line is so long | they're sold out | i forgot the shopping list
  2: did you find the {grocery}{q}
  add {grocery} to the list | i need new {pairs} | get {number of} {countable} {please}
  the receipt is in the bag

on the way:
  3* on your way home | 2* on the way back | {when} | at the {shop} | {please} | after work

shop:
  4* store | 3* supermarket | 2* mall | bakery | butcher | pharmacy | bookstore | flower shop
  hardware store | pet store
  farmers market | shoe store | toy store | corner shop | furniture store | garden center | thrift store
  fish market

fit:
  are too small | are too big | fit perfectly | look {opinion} | are on sale | don't fit | arrived {past}
  are sold out
  cost {small amount} | are the wrong color

delivered:
  arrives {when} | arrived {past} | was only {amount} | is too expensive | came broken | is finally here
  was on sale
  doesn't fit in the car | is {opinion} | needs batteries | cost {amount}

gadget news:
  arrived {past} | cost {big amount} | came broken | needs batteries | is sold out | is on sale
  won't charge | is {opinion}

package news:
  arrived {past} | is lost | is late | comes {when} | is at the post office | is with the neighbor
  got stolen
  is on the porch | was delivered to {name}

number of:
  two | three | four | six | a dozen | a couple of

countable:
  lemons | onions | bottles of water | avocados | cans of tuna | loaves of bread | candles | balloons
  bags of ice | limes
  tomatoes | eggs | bagels | croissants | cartons of milk | jars of honey | boxes of cereal | packs of gum
  pizzas
)";

}  // namespace undertext
