#include "text/messages/topics.h"

namespace undertext {

const std::string_view kThingRules = R"(
small number:
  3* two | 3* three | four | five | six | a couple of | a few

digit:
  0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9

digit word:
  zero | one | two | three | four | five | six | seven | eight | nine

sum:
  10 | 12 | 15 | 3* 20 | 25 | 2* 30 | 35 | 2* 40 | 45 | 4* 50 | 60 | 75 | 80 | 90 | 3* 100 | 120 | 150 | 200
  twenty | fifty | a hundred

amount:
  4* {sum} dollars | 3* {sum} bucks | {sum} euros | {sum}

small sum:
  3* 5 | 4* 10 | 2* 12 | 2* 15 | 4* 20 | 25 | 2* 30 | 35 | 40 | 50 | twenty | ten | fifteen

small amount:
  4* {small sum} dollars | 3* {small sum} bucks | {small sum} euros | a few bucks

big sum:
  2* 80 | 3* 100 | 120 | 2* 150 | 3* 200 | 250 | 2* 300 | 400 | 2* 500 | 600 | 800 | 1000 | 1200
  a hundred | two hundred

big amount:
  4* {big sum} dollars | 2* {big sum} bucks | {big sum} euros | {big sum}

drink:
  4* coffee | 2* tea | beer | wine | orange juice | apple juice | lemonade | hot chocolate
  sparkling water | cider
  iced tea | a smoothie | red wine | white wine | an espresso | a latte | a cappuccino | cola

fruit or vegetable:
  3* apples | 3* bananas | oranges | lemons | limes | strawberries | blueberries | grapes | pears | peaches
  cherries
  mangoes | melons | avocados | 2* tomatoes | 2* onions | 2* potatoes | carrots | cucumbers | peppers
  mushrooms
  spinach | broccoli | garlic | ginger | zucchini | lettuce | celery | beans | corn | pumpkin | beets
  basil | parsley

grocery:
  5* milk | 5* bread | 4* eggs | 3* butter | 2* cheese | 2* rice | 2* pasta | sugar | salt | flour | yogurt
  cereal
  oats | honey | jam | peanut butter | olive oil | chicken | ground beef | ham | bacon | salmon | tuna
  shrimp | tofu
  noodles | lentils | tomato sauce | mustard | ketchup | mayonnaise | vinegar | cinnamon | crackers | chips
  cookies
  chocolate | ice cream | tortillas | hummus | olives | pickles | sour cream | maple syrup | cat food
  dog food
  8* {fruit or vegetable}

household:
  3* toilet paper | paper towels | dish soap | laundry detergent | light bulbs | batteries | trash bags
  shampoo
  toothpaste | a toothbrush | sponges | tissues | diapers | candles | tape | glue | sunscreen | razors
  napkins | foil
  stamps | envelopes | birthday candles | wrapping paper | cough drops | hand soap | bleach | matches | soap

meal:
  3* pizza | 2* pasta | 2* soup | 2* tacos | curry | lasagna | salad | sushi | burgers | pancakes | waffles
  omelets
  fried rice | roast chicken | grilled fish | stir fry | chili | meatballs | dumplings | ramen | sandwiches
  risotto
  mashed potatoes | spaghetti | fajitas | kebabs | fish and chips | mac and cheese | leftovers | steak
  stew | paella
  banana bread | apple pie | carrot cake | cheesecake | brownies | muffins

mealtime:
  5* dinner | 4* lunch | 2* breakfast | brunch | dessert | a snack

belonging:
  3* {belonging one} | {belonging many}

belonging one:
  4* phone | 3* wallet | 3* charger | 2* umbrella | 2* jacket | 2* bag | passport | backpack | laptop
  scarf | hat | coat
  sweater | ring | watch | notebook | camera | bike lock | water bottle | library card | bus pass | ticket
  suitcase
  swimsuit | towel | raincoat | lunch box | purse | id card | tablet | tripod | necklace | bracelet | tie

belonging many:
  6* keys | 2* glasses | headphones | sunglasses | gloves | earbuds | boots | sneakers | earrings | car keys

belonging is:
  3* {belonging one} is | {belonging many} are

furniture:
  2* table | 2* sofa | chair | desk | lamp | bookshelf | mattress | mirror | rug | curtain | wardrobe
  dresser | bench
  stool | shelf | pillow | blanket | crib | cabinet | bed frame

# What water runs through, what runs a program, and what is dangerous to leave on.
wet appliance:
  3* washing machine | 2* dishwasher | fridge | boiler | coffee machine | freezer | sink | shower

program appliance:
  3* washing machine | 3* dishwasher | 2* dryer | coffee machine | vacuum

hot appliance:
  3* oven | 2* heater | 2* iron | tv | fan | air conditioner | stove

appliance:
  3* washing machine | 2* dishwasher | 2* fridge | oven | microwave | toaster | kettle | dryer | vacuum
  heater | boiler
  printer | router | tv | blender | freezer | coffee machine | air conditioner | doorbell | smoke alarm
  iron | fan

gadget:
  phone | laptop | tablet | camera | speaker | keyboard | monitor | mouse | headset | game console | drone
  microphone

clothes:
  {clothing} | {pairs}

clothing:
  2* dress | 2* shirt | jacket | skirt | sweater | hoodie | suit | coat | blouse | vest | cardigan | costume

pairs:
  3* shoes | 2* jeans | boots | socks | pajamas | shorts | sandals | leggings | sneakers | pants | slippers

color:
  2* blue | 2* red | 2* black | green | white | yellow | purple | orange | pink | gray | brown | silver | gold
)";

}  // namespace undertext
