// The rules of the built-in messages, one file per topic (see text/grammar.h for how rules are written).
#pragma once

#include <string_view>
#include <vector>

namespace undertext {

extern const std::string_view kTopicRules;   // how often each topic comes, and what they all share
extern const std::string_view kPeopleRules;  // names and relatives
extern const std::string_view kTimeRules;    // clocks, days, durations
extern const std::string_view kPlaceRules;   // where people are and go
extern const std::string_view kThingRules;   // food, objects, numbers and amounts

extern const std::string_view kReplyRules;
extern const std::string_view kGreetingRules;
extern const std::string_view kPlanRules;
extern const std::string_view kFamilyRules;
extern const std::string_view kWorkRules;
extern const std::string_view kShoppingRules;
extern const std::string_view kTravelRules;
extern const std::string_view kHealthRules;
extern const std::string_view kMoneyRules;
extern const std::string_view kSchoolRules;
extern const std::string_view kHobbyRules;
extern const std::string_view kFeelingRules;
extern const std::string_view kHomeRules;
extern const std::string_view kPrivateRules;

// All of them.
std::vector<std::string_view> message_rules();

}  // namespace undertext
