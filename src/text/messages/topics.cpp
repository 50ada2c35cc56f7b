#include "text/messages/topics.h"

namespace undertext {

std::vector<std::string_view> message_rules() {
  return {kTopicRules,    kPeopleRules,   kTimeRules,   kPlaceRules,  kThingRules,
          kReplyRules,    kGreetingRules, kPlanRules,   kFamilyRules, kWorkRules,
          kShoppingRules, kTravelRules,   kHealthRules, kMoneyRules,  kSchoolRules,
          kHobbyRules,    kFeelingRules,  kHomeRules,   kPrivateRules};
}

}  // namespace undertext
