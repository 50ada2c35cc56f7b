#include "text/messages/topics.h"

namespace undertext {

const std::string_view kReplyRules = R"(
reply:
  30* {short reply}
  12* {reply phrase}
  8* {ack} {reply phrase}
  4* {reply phrase} {name}
  3* {short reply} {name}

short reply:
  12* ok | 8* yes | 6* thanks | 6* no | 5* sure | 4* lol | 4* ok thanks | 4* yeah | 3* cool | 3* haha
  3* great
  3* thank you | 2* nice | 2* perfect | 2* of course | 2* no worries | 2* sounds good | got it | yep | nope
  maybe
  awesome | alright | absolutely | exactly | whatever | sorry | congrats | wow | really | same here
  me too | agreed
  no problem | all good | not yet | fine by me | good idea | my bad | you're welcome | no way | oh no
  why not

reply phrase:
  8* on my way | 5* see you soon | 4* be right there | 4* call you later | 3* i'll be there | 3* talk later
  3* i know
  2* i love you | 2* love you too | 2* let me check | 2* i don't know | 2* i think so | 2* what time
  2* where are you
  2* almost there | 2* just got home | 2* can't talk now | 2* call me back | i'll let you know
  running late | i agree
  thank you so much | that's fine | that works for me | i'm not sure | i hope so | i don't think so
  what happened
  see you {when} | be there {when} | see you at {clock} | ask {person} | tell me more | who is this | i'm here
  give me {duration} | back in {duration} | there in {duration} | almost done | sounds {opinion} to me
  not today
  i'm outside | don't worry about it | it's up to you | never mind | that's {opinion} | that was {opinion}
  i can't
  i'll do it {when} | maybe {day} | not {day} | i'm {at place} | still {at place} | just left {venue}
  forgot again
  let's do that | let me ask {person} | makes sense | you're right | good point | i wish | fingers crossed
  it depends
  wait for me | say hi to {person} | i'll take it | i'm ready | are you sure | are you ok | i was asleep
  no idea
)";

}  // namespace undertext
