#include "text/entities.h"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using Found = std::vector<std::string>;

// "kind:text" of each.
Found found(std::string_view text) {
  Found list;
  for (const Entity& entity : find_entities(text))
    list.push_back(std::string(name_of(entity.kind)) + ":" + entity.text);
  return list;
}

TEST(Entities, OfBusinessMailInLowerCase) {
  EXPECT_EQ(found("Last friday, i called robert johnston immediately."),
            (Found{"date:friday", "person:robert"}));
  EXPECT_EQ(found("Investors also stopped buying motorola inc."), (Found{"organisation:motorola"}));
  EXPECT_EQ(found("Doc ) thanks, mark eog resources, inc."), Found{});
  EXPECT_EQ(found("Earlier this year, the stock was above $80 a share."), (Found{"number:$80"}));
  EXPECT_EQ(found("It cost the company $35 million in san antonio, texas."),
            (Found{"number:$35 million", "place:san antonio", "place:texas"}));
  EXPECT_EQ(found("The seminar is on friday, september 22, 2000"),
            (Found{"date:friday", "date:september 22 2000"}));
  EXPECT_EQ(found("We sold it to acme corp."), (Found{"organisation:acme corp"}));
}

TEST(Entities, OfTextWithCapitalLetters) {
  EXPECT_EQ(found("In 1988 it was directed by Max von Sydow, starring Tammi Ost as Katinka."),
            (Found{"date:1988", "person:max von sydow", "name:tammi ost", "name:katinka"}));
  EXPECT_EQ(found("The University of Washington won."), (Found{"organisation:university of washington"}));
  EXPECT_EQ(found("Kristina Lennox @-@ Silva represented Puerto Rico in the 400 meters."),
            (Found{"name:kristina lennox-silva", "place:puerto rico", "number:400"}));
  EXPECT_EQ(found("He left on 22 August 1959 for NASA."),
            (Found{"date:22 august 1959", "organisation:nasa"}));
  EXPECT_EQ(found("Mr. Fastow met Sen. Hope in Georgia."),
            (Found{"person:mr fastow", "person:sen hope", "place:georgia"}));
}

TEST(Entities, OfAddressesAndNumbers) {
  EXPECT_EQ(found("Write to jane.doe@example.com or call 713-853-6161."),
            (Found{"email:jane.doe@example.com", "phone:713-853-6161"}));
  EXPECT_EQ(found("call (713) 853-6161"), (Found{"phone:713 853-6161"}));
  EXPECT_EQ(found("due 3/14/2001, 65 percent or 3.5%"),
            (Found{"date:3/14/2001", "number:65 percent", "number:3.5%"}));
}

TEST(Entities, AreNotSeenInWordsThatMeanSomethingElse) {
  EXPECT_EQ(found("You may mark the bill and will reading it be nice?"), Found{});
  EXPECT_EQ(found("Thanks. Please call. The meeting went well."), Found{});
  EXPECT_EQ(found("Volume is trying to clear up these issues."), Found{});
  EXPECT_EQ(found(""), Found{});
  EXPECT_EQ(found(" ... \xff@ @-@"), (Found{}));
}

TEST(Entities, MayBeGiven) {
  const std::vector<std::string> listed = {"Andrew Fastow", "tenaska iv", "..."};
  const EntityFinder finder(listed);
  const std::vector<Entity> two = finder.find("We paid Tenaska IV, said (andrew fastow).");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0], (Entity{EntityKind::name, "andrew fastow"}));
  EXPECT_TRUE(finder.find("andrew met fastow").empty());
  EXPECT_EQ(EntityFinder().find("enron").size(), 1u);
}

}  // namespace
}  // namespace undertext
