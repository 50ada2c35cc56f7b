#include "text/messages/topics.h"

namespace undertext {

const std::string_view kPeopleRules = R"(
name:
  3: anna | ben | maria | david | sarah | tom | emma | james | lucy | alex
  2: sophie | daniel | laura | mike | nina | peter | julia | sam | chris | kate | leo | mia | jack | olivia
  2: noah
  ahmed | aisha | carlos | chen | clara | diego | elena | eva | felix | fiona | george | grace | hannah
  hugo | ivan
  jasmine | jonas | karim | kofi | lena | liam | lily | luca | marco | martin | maya | nadia | oscar
  pablo | priya
  ravi | rosa | ruth | simon | sofia | stefan | tara | theo | victor | wendy | yusuf | zoe | amara | bruno
  isabel

relative:
  6* mom | 5* dad | 3* grandma | 2* grandpa
  my sister | my brother | my cousin | my aunt | my uncle | my wife | my husband | my girlfriend
  my boyfriend
  your mom | your dad | your sister | your brother | my niece | my nephew | my son | my daughter

friend:
  my roommate | the neighbor | my best friend | my flatmate | our landlord | the babysitter | my friend {name}

person:
  5* {name} | 3* {relative} | {friend}

people:
  the kids | my parents | your parents | the boys | the girls | the twins | the neighbors | my friends
  {name} and {name} | the grandparents | the cousins | {relative} and {name}

young person:
  5* {name} | my sister | my brother | my cousin | my roommate | my best friend | your sister
  your brother | my flatmate

they:
  2* he | 2* she | {person}

pet:
  4* the dog | 3* the cat | the puppy | the hamster | the rabbit | the kitten | the parrot | the turtle

them:
  4* you | him | her | them | {name}
)";

}  // namespace undertext
