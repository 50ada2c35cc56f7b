#include "text/messages/topics.h"

namespace undertext {

const std::string_view kHobbyRules = R"(
hobby:
  5: have you seen {show}{q} | have you read {book}{q} | have you heard {song}{q}
  5* {they watch} {show} {watch when}
  5* the {team} {match result}
  4: i {hobby verb} {past} | i started {craft} {past} | {craft} is {intensity} {craft opinion}
  4: {show} {review} | {book} {review} | {song} {song review}
  3: i finished the {project} {past} | working on the {project} | look at the {project} i made
  3: how is the {project} going{q}
  3: did you watch the {match}{q} | what was the score{q} | the {match} starts at {clock}
  3: who won the {match}{q} | we won {score}
  3: the {plant} {plant news} | i planted {fruit or vegetable} {past}
  3: i'm growing {fruit or vegetable} this year
  3: can i borrow your {gear}{q} | my {gear} {gear news} | i bought a new {gear} {past} | i need a new {gear}
  2: i caught a {fish} {past} | saw a {wild animal} {wild place}
  2: {small number} {birds} in the garden {today seen}
  2: i beat {name} at {game} | want to play {game} {when}{q} | {game} {when}{q} | i'm learning {instrument}
  2: {instrument} lesson at {clock}
  2: any good {media} to recommend{q} | the new {media} is out | season {season number} is out {day}
  2: no spoilers please
  {name} plays {instrument} {intensity} well | band practice {when} | i ran a marathon {past}
  my sourdough {bread news}

show:
  4* the new episode | 2* the new movie | the documentary about {documentary} | the finale
  that movie about {documentary}
  the cooking show | the space movie | that comedy with the {wild animal} | the trailer

documentary:
  whales | volcanoes | bees | penguins | trains | chess | space | the ocean | robots | dinosaurs | wolves
  mushrooms
  glaciers | honey | magicians | castles

book:
  2* that book | the second book | the book about {documentary} | the novel | the last chapter | the new comic

song:
  2* the new album | that song | the podcast about {documentary} | the remix | the new single

they watch:
  2* i'm watching | we're watching | {name} is watching | let's watch

watch when:
  2* tonight | again | right now | later | with {name} | {day} | without you

review:
  is {opinion} | was {opinion} | made me cry | is {intensity} long | was so {opinion} | is worth it
  put me to sleep
  has a {opinion} ending | is better than the first one

song review:
  is {opinion} | made me cry | is stuck in my head | is on repeat | reminds me of you | is so {opinion}

team:
  2* lions | rockets | eagles | tigers | sharks | bears | hawks | wolves | kids

match result:
  won {score} | lost {score} | are playing {when} | tied again | got a new coach | lost again
  played {opinion play}
  are in the final | need a goalkeeper {day}

score:
  two one | three nil | three two | one nil | in overtime | on penalties | four one | by two points

opinion play:
  well | badly | great | terribly | ok

hobby verb:
  went fishing | went climbing | painted a {wild animal} | baked {meal} | built a {built} | made a {gift made}
  learned a new {learned} | took {small number} photos | went birdwatching | played {game}
  fixed the {gear} | sewed a {clothing}

built:
  table | bookshelf | bench | desk | bed frame | treehouse | stool | shed | snowman | sandcastle

gift made:
  bowl | quilt | scarf | birdhouse | candle | kite | basket | vase | bookshelf | treehouse | puppet

learned:
  song | recipe | trick | chord | word in {language} | dance | knot | stitch

language:
  italian | japanese | arabic | korean | swedish | portuguese | mandarin | dutch

craft:
  2* knitting | 2* painting | pottery | gardening | drawing | sewing | woodworking | origami | photography
  baking | crochet
  calligraphy | juggling | ballet | salsa | karate | archery | surfing | fencing | rowing

craft opinion:
  hard | fun | relaxing | expensive | addictive | difficult | easy

project:
  2* puzzle | sweater | painting | model train | birdhouse | quilt | garden shed | treehouse | photo book
  bookcase | robot
  song | short story | dollhouse | mosaic

match:
  2* game | 2* match | race | final | derby | fight | tournament

plant:
  2* roses | tomatoes | tulips | sunflowers | orchids | herbs | daisies | cactuses | seedlings
  strawberries | lilies

plant news:
  are blooming | need water | are dead | look {opinion} | grew a lot | need more sun | have bugs
  are for {name}

gear:
  2* bike | tent | guitar | camera | racket | skateboard | drill | paddle | helmet | sewing machine
  fishing rod | sleeping bag
  surfboard | ladder | wheelbarrow | kayak | lens | violin | snowboard

gear news:
  is broken | got stolen {past} | needs a new battery | is in the garage | is at {name}'s place
  needs fixing | is for sale

fish:
  trout | carp | big fish | pike | crab | cod | catfish

wild place:
  in the garden | by the river | near the lake | in the park | on the road | in the woods | on the roof
  at the zoo

wild animal:
  2* fox | 2* deer | squirrel | hedgehog | owl | snake | bear | eagle | frog | bat | seal | dolphin
  badger | moose | rabbit

birds:
  ducks | robins | crows | geese | swans | pigeons | sparrows | woodpeckers | swallows | gulls

today seen:
  today | this morning | right now | _

game:
  3* chess | 2* cards | tennis | scrabble | poker | checkers | darts | pool | ping pong | bingo | golf
  dominoes | bowling
  badminton | backgammon

instrument:
  2* piano | 2* guitar | violin | drums | cello | flute | trumpet | saxophone | ukulele | harp | accordion
  clarinet

media:
  books | movies | podcasts | album | games | comics | series | playlist | audiobooks

season number:
  two | three | four | five | six

bread news:
  failed again | looks {opinion} | is in the oven | turned out {opinion} | needs more time
)";

}  // namespace undertext
