#include "text/entity_words.h"

#include <array>
#include <string>
#include <unordered_set>

namespace undertext {
namespace {

using List = std::unordered_set<std::string>;

// As one text: entries stand between commas, so that some have several words.
std::string_view text_of(WordKind kind) {
  switch (kind) {
    case WordKind::month:
      return R"(january,february,march,april,may,june,july,august,september,october,november,december,jan,feb,mar,apr,jun,
jul,aug,sep,sept,oct,nov,dec)";
    case WordKind::weekday:
      return R"(monday,tuesday,wednesday,thursday,friday,saturday,sunday,mon,tue,tues,wed,thu,thur,thurs,fri,sat,sun)";
    case WordKind::common_too:
      return R"(march,may,mar,dec,mon,wed,fri,sat,sun,art,bill,bob,chance,chase,chip,dale,dean,don,drew,earl,eve,faith,
frank,gene,glen,grace,grant,guy,hope,iris,ivy,jack,jay,joy,lance,lee,mark,max,miles,nick,pat,penny,pierce,
rich,rob,rose,ray,ruby,rusty,sandy,sky,sue,violet,wade,ward,will,turkey,china,jordan,georgia,chad,reading,
nice,mobile,orange,shell,target,gap,apple,amazon,visa,oracle,who,un)";
    case WordKind::given_name:
      return R"(aaron,abdul,abigail,adam,adrian,agnes,ahmed,alan,albert,alejandro,alex,alexander,alexandra,alfred,ali,
alice,alicia,alison,allen,allison,amanda,amber,amy,ana,andrea,andreas,andrew,andy,angela,anita,ann,anna,
anne,annie,anthony,antonio,april,arnold,art,arthur,ashley,audrey,barbara,barry,beatrice,becky,benjamin,
ben,bernard,beth,betty,beverly,bill,billy,bob,bobby,bonnie,brad,bradley,brandon,brenda,brent,brian,
bridget,bruce,bryan,calvin,carl,carla,carlos,carmen,carol,caroline,carolyn,carrie,catherine,cathy,cecilia,
chad,charles,charlie,charlotte,cheryl,chloe,chris,christian,christina,christine,christopher,cindy,claire,
clara,clarence,claudia,clifford,colin,colleen,connie,craig,crystal,curtis,cynthia,daisy,dale,dan,daniel,
danny,darren,darrell,dave,david,dawn,dean,deborah,debbie,debra,denise,dennis,derek,diana,diane,diego,
dietrich,don,donald,donna,doris,dorothy,doug,douglas,drew,duane,dustin,dylan,earl,eddie,edgar,edith,
edward,edwin,eileen,elaine,eleanor,elena,elisabeth,elizabeth,ella,ellen,emily,emma,enrique,eric,erica,
erik,erin,ernest,esther,ethan,eugene,eva,eve,evelyn,faith,fatima,felix,fernando,fiona,florence,frances,
francis,francisco,frank,franz,fred,frederick,friedrich,fritz,gabriel,gail,gary,gene,geoffrey,george,
gerald,gina,glen,glenn,gloria,gordon,grace,grant,greg,gregory,gretchen,guy,hannah,hans,harold,harriet,
harry,hassan,heather,hector,heidi,heinrich,helen,henry,herbert,herman,holly,hope,howard,hugh,hussein,ian,
ibrahim,ida,ingrid,irene,iris,isaac,isabel,isabella,ivan,jack,jackie,jacob,jacqueline,jaime,jake,james,
jamie,jan,jane,janet,janice,jared,jasmine,jason,javier,jay,jean,jeanne,jeff,jeffrey,jennifer,jenny,jeremy,
jerry,jesse,jessica,jesus,jill,jim,jimmy,joan,joanne,joe,joel,johannes,john,johnny,jon,jonathan,jordan,
jorge,jose,joseph,joshua,joy,joyce,juan,juanita,judith,judy,julia,julian,julie,justin,karen,karl,kate,
katharina,katherine,kathleen,kathryn,kathy,katie,kay,keith,kelly,ken,kenneth,kevin,kim,kimberly,klaus,
kristen,kristin,kurt,kyle,lance,larry,laura,lauren,laurie,lawrence,leah,lee,leo,leon,leonard,leroy,leslie,
lewis,liam,lillian,linda,lindsay,lisa,lloyd,lois,lorenzo,lori,louis,louise,lucas,lucy,luis,lydia,lynn,
madison,manuel,marc,marcus,margaret,maria,marie,marilyn,mario,marion,marissa,marjorie,mark,marlene,
marshall,martha,martin,marvin,mary,matt,matthew,maureen,maurice,max,megan,melanie,melinda,melissa,melvin,
michael,michelle,miguel,mike,mildred,miles,mitchell,mohamed,mohammad,mohammed,molly,monica,monique,morgan,
muhammad,mustafa,nancy,natalie,natasha,nathan,nathaniel,neil,nicholas,nick,nicole,nina,noah,noel,nora,
norma,norman,oliver,olivia,omar,oscar,osama,otto,pablo,pamela,pat,patricia,patrick,patty,paul,paula,
pauline,pedro,peggy,penny,perry,peter,phil,philip,phillip,phyllis,priya,rachel,rafael,raj,ralph,ramon,
randall,randy,raul,ray,raymond,rebecca,regina,renee,rhonda,ricardo,rich,richard,rick,ricky,rita,rob,
robert,roberta,roberto,robin,rodney,roger,roland,ron,ronald,ronnie,rosa,rose,rosemary,ross,roy,ruben,ruby,
russell,ruth,ryan,sabine,sally,salvador,sam,samantha,samuel,sandra,sandy,sara,sarah,scott,sean,sebastian,
sergio,seth,shannon,sharon,shawn,sheila,shelley,sherri,sherry,shirley,sidney,simon,sofia,sophia,sophie,
stacey,stacy,stan,stanley,stefan,stella,stephanie,stephen,steve,steven,stuart,sue,susan,suzanne,sylvia,
tamara,tammy,tanya,tara,ted,teresa,terri,terry,thelma,theodore,theresa,thomas,tiffany,tim,timothy,tina,
todd,tom,tommy,toni,tony,tonya,tracey,tracy,travis,tyler,ursula,valerie,vanessa,vera,vernon,veronica,
vicki,victor,victoria,vincent,violet,virginia,vivian,wade,walter,wanda,warren,wayne,wendy,werner,wesley,
wilhelm,will,william,willie,wolfgang,yolanda,yvonne,zachary,zoe)";
    case WordKind::place:
      return R"(afghanistan,africa,alabama,alaska,albany,albuquerque,algeria,america,amsterdam,antarctica,argentina,
arizona,arkansas,asia,athens,atlanta,austin,australia,austria,baghdad,baltimore,bangkok,bangladesh,
barcelona,beijing,belgium,berlin,bolivia,bombay,boston,brazil,britain,brooklyn,brussels,budapest,
buenos aires,buffalo,cairo,calgary,california,cambridge,canada,cape town,caracas,chad,charlotte,chicago,
chile,china,cincinnati,cleveland,colombia,colorado,connecticut,copenhagen,costa rica,cuba,czech republic,
dallas,delaware,delhi,denmark,denver,detroit,district of columbia,dubai,dublin,east coast,ecuador,
edinburgh,egypt,el paso,england,ethiopia,europe,finland,florida,fort worth,france,frankfurt,geneva,
georgia,germany,glasgow,great britain,greece,hamburg,havana,hawaii,hollywood,hong kong,houston,hungary,
iceland,idaho,illinois,india,indiana,indonesia,iowa,iran,iraq,ireland,israel,istanbul,italy,jakarta,
jamaica,japan,jerusalem,johannesburg,jordan,kabul,kansas,kansas city,kentucky,kenya,kiev,korea,kuwait,
las vegas,lebanon,libya,lima,lisbon,liverpool,london,los angeles,louisiana,madrid,maine,malaysia,
manchester,manhattan,manila,maryland,massachusetts,mecca,melbourne,memphis,mexico,mexico city,miami,
michigan,milan,milwaukee,minneapolis,minnesota,mississippi,missouri,mobile,montana,montreal,morocco,
moscow,mumbai,munich,nashville,nebraska,nepal,netherlands,nevada,new delhi,new england,new hampshire,
new jersey,new mexico,new orleans,new york,new york city,new zealand,nice,nigeria,north america,
north carolina,north dakota,north korea,norway,oakland,ohio,oklahoma,omaha,ontario,oregon,orlando,osaka,
oslo,ottawa,oxford,pakistan,palestine,panama,paris,pennsylvania,peru,philadelphia,philippines,phoenix,
pittsburgh,poland,portland,portugal,prague,puerto rico,quebec,reading,rhode island,rio de janeiro,romania,
rome,russia,sacramento,salt lake city,san antonio,san diego,san francisco,san jose,sao paulo,saudi arabia,
scotland,seattle,seoul,shanghai,silicon valley,singapore,south africa,south america,south carolina,
south dakota,south korea,southern california,northern california,soviet union,spain,st louis,stockholm,
sweden,switzerland,sydney,syria,taiwan,tampa,tehran,tel aviv,tennessee,texas,thailand,tokyo,toronto,tulsa,
turkey,uk,ukraine,united kingdom,united nations,united states,uruguay,usa,utah,vancouver,venezuela,venice,
vermont,vienna,vietnam,virginia,wales,wall street,warsaw,washington,washington dc,west coast,
west virginia,white house,wisconsin,wyoming,yemen,yugoslavia,zurich)";
    case WordKind::organisation:
      return R"(amazon,aol,apple,bbc,bloomberg,boeing,bp,calpine,chevron,cia,citigroup,cnn,congress,duke energy,dynegy,
ebay,el paso energy,enron,enrononline,epa,exxon,exxonmobil,facebook,fbi,ferc,ford motor,gap,
general electric,general motors,goldman sachs,google,halliburton,ibm,intel,interpol,irs,merrill lynch,
microsoft,mirant,morgan stanley,motorola,nasa,nasdaq,nato,nbc,netflix,nymex,nyse,opec,oracle,pepsi,pg&e,
reliant,reuters,senate,shell,sony,target,tenaska,toyota,twitter,un,unesco,unicef,verizon,visa,walmart,who,
williams energy,wto,xerox,yahoo)";
    case WordKind::company_ending:
      return R"(ag,co,company,corp,corporation,gmbh,group,holdings,inc,incorporated,limited,llc,llp,lp,ltd,plc,sa)";
    case WordKind::institution:
      return R"(academy,agency,airlines,airport,army,association,authority,bank,board,bureau,church,club,college,
commission,committee,corporation,council,court,department,exchange,federation,foundation,government,
hospital,institute,league,library,ministry,museum,navy,newspaper,orchestra,party,police,press,railway,
records,school,society,studio,studios,team,union,university)";
    case WordKind::title:
      return R"(capt,captain,col,dr,duke,gen,general,gov,governor,judge,justice,king,lady,lord,lt,madam,maj,miss,mr,mrs,
ms,pope,president,prince,princess,prof,professor,queen,rev,secretary,sen,senator,sgt,sir,st)";
    case WordKind::number_word:
      return R"(billion,bn,cents,dollars,euros,hundred,million,percent,thousand,trillion)";
    case WordKind::function_word:
      return R"(a,about,above,according,across,after,again,against,all,along,already,also,although,always,am,among,an,and,
another,any,anyone,anything,are,around,as,at,back,be,because,been,before,being,below,besides,best,between,
both,but,by,call,can,come,could,day,dear,despite,did,do,does,done,down,during,each,earlier,either,else,
even,every,everyone,everything,few,finally,first,for,from,further,get,give,go,good,had,has,have,he,hello,
her,here,hers,hey,hi,him,his,how,however,i,i'd,i'll,i'm,i've,if,in,indeed,instead,into,is,it,it's,its,
just,last,later,least,less,let,let's,like,look,made,make,many,maybe,me,meanwhile,might,more,moreover,most,
much,must,my,need,neither,never,nevertheless,new,next,no,nor,not,nothing,now,of,off,often,oh,ok,okay,on,
once,one,only,or,other,others,our,out,over,own,per,perhaps,please,rather,really,regards,same,see,several,
shall,she,should,since,so,some,someone,something,sometimes,soon,still,such,take,than,thank,thanks,that,
that's,the,their,them,then,there,there's,therefore,these,they,they're,thing,think,this,those,though,three,
through,thus,till,to,today,together,tomorrow,tonight,too,toward,towards,two,under,unfortunately,unless,
unlike,until,up,upon,us,use,very,via,was,we,we'd,we'll,we're,we've,well,were,what,what's,when,where,
whether,which,while,who,whom,whose,why,will,with,within,without,would,yes,yesterday,yet,you,you'll,you're,
you've,your,yours)";
  }
  return "";
}

List list_of(WordKind kind) {
  List list;
  std::string entry;
  for (const char c : text_of(kind)) {
    if (c == ',') {
      list.insert(entry);
      entry.clear();
    } else if (c != '\n') {
      entry += c;
    }
  }
  list.insert(entry);
  return list;
}

}  // namespace

bool is_a(WordKind kind, std::string_view word) {
  static const auto lists = [] {
    std::array<List, kWordKinds> all;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = list_of(static_cast<WordKind>(k));
    return all;
  }();
  return lists[static_cast<std::size_t>(kind)].contains(std::string(word));
}

}  // namespace undertext
