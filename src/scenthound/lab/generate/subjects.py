"""The words of the generated web: a taxonomy of everyday subjects, and what people say about each.

An area has leaves; some areas put a group between them, so paths have two or three labels. A leaf's
words come roughly by how often they are said. Words shared by neighbours (`kiln`, `frame`, `model`)
are shared on purpose: a crawler that trusts a single word shall be led astray now and then.
"""

from __future__ import annotations

from typing import NamedTuple


class Leaf(NamedTuple):
    """One subject: its place in the taxonomy and its words, the commonest first."""

    path: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path[-1]


_TAXONOMY: dict[str, str] = {
    "outdoors/air/hot air ballooning": """
        balloon basket burner pilot flight envelope propane launch inflation sunrise wind altitude landing crew
        nylon festival ascent descent tether gust forecast meadow passenger champagne fabric seam vent parachute
        chase trailer fan blower ripstop drift thermal altimeter variometer licence gondola wicker flame valve
        cylinder gauge weather dawn valley horizon silence glow rally distance record crossing
    """,
    "outdoors/air/paragliding": """
        glider wing harness thermal launch canopy ridge soaring pilot lift sink brake riser speed reserve
        parachute variometer helmet slope takeoff landing windsock valley tandem school instructor acro spiral
        collapse cascade cloudbase turbulence line carabiner cocoon cross country distance competition gaggle
        site club inversion updraft cumulus leading edge trailing porosity kiting groundhandling stall radio
    """,
    "outdoors/water/sea kayaking": """
        kayak paddle tide coast hull rudder skeg cockpit deck hatch swell current island bay roll brace spray
        skirt surf landing bow stern expedition guide drysuit rescue tow compass chart lighthouse harbour
        estuary seal puffin headland crossing race overfall eddy ferry glide stroke feather blade carbon
        fibreglass bulkhead float camp beach shore wave wetsuit
    """,
    "outdoors/water/dinghy sailing": """
        sail boat mast boom jib mainsail tiller rudder hull crew helm wind tack gybe reach beat regatta race
        buoy start harbour slipway trapeze spinnaker sheet halyard cleat batten centreboard daggerboard capsize
        righting bailer knot rigging shroud lake estuary club dinghy handicap protest flag committee luff leech
        telltale trim heel planing keel varnish trolley
    """,
    "outdoors/land/rock climbing": """
        rope route crag hold grade belay anchor harness boulder wall granite limestone chalk shoe summit lead
        bolt nut cam carabiner quickdraw pitch crack slab overhang crimp jug sloper ledge ascent descent abseil
        partner helmet guidebook gym training finger grip fall topo ethics sport traditional sandstone dyno beta
        crux mantle chimney rack sling
    """,
    "outdoors/land/orienteering": """
        map compass control course runner forest contour terrain checkpoint start finish route leg bearing pace
        punch marker symbol scale club event relay night sprint relative knoll marsh path vegetation boulder
        cliff navigation attackpoint handrail catching feature legend chip timing series championship coach
        thumb reentrant clearing fence thicket junior veteran mapper
    """,
    "nature/sea/coral reefs": """
        coral reef polyp fish bleaching algae ocean lagoon atoll sponge anemone clownfish colony skeleton
        calcium larvae spawning tropical diver transect nursery fragment acid temperature warming turtle urchin
        parrotfish symbiosis zooxanthellae plankton current shallow barrier fringe island survey marine
        biologist restoration acropora brain staghorn fan gorgonian grouper shark ray seagrass mangrove sediment
    """,
    "nature/sea/whale watching": """
        whale humpback blow fluke breach dolphin calf pod migration boat ocean orca baleen krill sperm minke fin
        tail song hydrophone sighting season naturalist harbour captain binoculars catalogue feeding bubble net
        plankton acoustic tag strandings barnacle dorsal blowhole echolocation cetacean porpoise pelagic seabird
        swell distance guideline cruise logbook photo individual
    """,
    "nature/land/bird watching": """
        bird binoculars feather nest species song migration hide wing plumage beak field guide marsh warbler
        heron owl raptor finch feeder checklist telescope sighting flock wader gull tern ringing dawn chorus
        call reserve wetland hedge woodland estuary rarity twitcher notebook hawk falcon kingfisher sparrow
        swallow thrush juvenile moult county recorder lister perch
    """,
    "nature/land/wild mushrooms": """
        mushroom spore cap gill fungus stem forest mycelium edible chanterelle bolete ring toxic forager basket
        morel truffle autumn moss birch oak beech pine identification pore print flesh smell poisonous amanita
        puffball bracket decay log mycorrhiza leaf litter season rain knife field guide society foray russula
        milkcap hedgehog slime lichen hyphae fruiting veil
    """,
    "nature/earth/volcanoes": """
        lava eruption magma crater ash cone vent basalt caldera summit seismic tremor plume rock island gas
        sulphur mantle plate fault flow pumice obsidian geyser fumarole hotspot subduction ridge observatory
        geologist monitoring deformation tilt pyroclastic lahar evacuation dome dyke tephra andesite explosion
        stratovolcano shield fissure steam glow geothermal tectonic
    """,
    "nature/earth/caves": """
        cave passage chamber limestone stalactite stalagmite rope shaft pothole stream sump karst explorer
        helmet lamp survey bat mud crawl squeeze boulder choke entrance gallery calcite flowstone column drip
        sinkhole spring diver ladder rigging descender carbide underground river darkness map club expedition
        rescue dye tracing fossil sediment grotto curtain straw doline
    """,
    "crafts/pottery": """
        clay glaze kiln wheel pot bowl firing stoneware porcelain slip earthenware mug vase throwing studio
        bisque cone raku celadon ash salt wood handle rim foot trimming wedging coil slab pinch sculpture potter
        workshop oxide cobalt iron crackle reduction oxidation temperature shelf sponge bat teapot tile mould
        casting burnish sgraffito drying
    """,
    "crafts/knitting": """
        yarn needle stitch wool pattern sweater sock purl row gauge cable lace scarf hat skein ball colour
        sleeve cuff shawl mitten circular cast bind increase decrease ribbing garter blocking swatch merino
        alpaca mohair cotton cardigan raglan yoke intarsia chart marker hank dye spinner sheep fleece tension
        button thumb heel gusset toe blanket
    """,
    "crafts/woodturning": """
        lathe wood bowl gouge chisel spindle chuck blank turner tool grain timber ash maple oak burr hollowing
        finish sanding shavings workshop bevel scraper skew tailstock headstock faceplate tenon pen platter vase
        finial wax oil lacquer sharpening grinder jig dust mask bandsaw log green drying crack speed tearout
        segment goblet lid ornament
    """,
    "crafts/bookbinding": """
        book paper thread spine cover sewing leather board press glue cloth endpaper signature fold binder
        needle gilding case quarter headband marbled awl bone folder paste knife guillotine edge sheet grain
        journal album repair conservation library vellum parchment foil tooling title label coptic japanese stab
        joint hinge slipcase printer letterpress manuscript
    """,
    "crafts/glassblowing": """
        glass furnace blowpipe gather molten bubble heat colour vase torch annealing kiln studio punty bench
        jacks ornament goblet paperweight murano crucible batch sand silica frit cane rod bead lampwork marver
        block shears tweezers lip foot stem optic mould cullet crack thermal sculpture gaffer assistant gallery
        etching cutting lead crystal flame borosilicate reheating
    """,
    "crafts/leatherwork": """
        leather hide stitch awl needle thread belt bag wallet saddle strap buckle edge bevel dye tanning tool
        stamp punch rivet mallet knife holster sheath purse grain vegetable oil wax burnish beeswax cattle skin
        tannery oak bark pattern template pricking iron clam pony harness saddler boot shoe sole carving
        embossing snap lining lace
    """,
    "garden/beekeeping": """
        bee hive honey queen colony swarm frame brood wax comb worker drone nectar pollen smoker apiary super
        varroa mite veil foundation extractor forage clover heather sting propolis keeper inspection winter
        feeding syrup cell nucleus skep entrance guard dance pheromone disease foulbrood treatment harvest jar
        candle association apiarist oilseed requeen excluder
    """,
    "garden/vegetable growing": """
        seed soil tomato bed compost potato bean carrot crop harvest onion plot seedling row lettuce cabbage pea
        allotment manure mulch weed slug watering frost greenhouse pot tray variety rotation sowing planting hoe
        spade fork cloche fleece courgette squash pumpkin beetroot leek garlic kale spinach pepper chilli blight
        aphid rain season heirloom
    """,
    "garden/bonsai trees": """
        tree branch pot root trunk leaf pruning wire maple juniper pine soil shape style nursery repotting
        akadama moss cascade upright forest deadwood nebari ramification bud needle watering feeding shears
        display exhibition master japan elm ficus azalea cutting grafting layering shohin tray slate winter
        shelter jin shari collected yamadori fertiliser patience
    """,
    "garden/garden ponds": """
        pond water fish pump filter koi lily liner frog plant algae newt waterfall depth edge oxygen fountain
        goldfish tadpole dragonfly reed iris stone marginal shelf ultraviolet clarifier nitrate ammonia test
        netting heron leaf sludge blanketweed wildlife stream bog preformed concrete butyl hose winter ice snail
        beetle duckweed aeration toad hatching
    """,
    "garden/rose growing": """
        rose bush bloom petal pruning climber thorn scent bud shrub rambler floribunda hybrid rootstock
        blackspot mildew mulch bed feeding deadheading grafting damask gallica moss tea standard arch pergola
        cutting hip garden breeder variety colour cream crimson pink show vase aphid greenfly rust border hedge
        nursery bare planting patio david perfume exhibition
    """,
    "garden/composting": """
        compost heap bin worm waste leaf soil carbon nitrogen kitchen peel turning moisture heat bacteria fungus
        mulch manure humus wormery grass clipping cardboard straw layer aeration decay brown green shredder
        sieve bokashi leachate thermometer pathogen microbe organic garden scrap eggshell coffee tumbler pallet
        bay windrow mould liquid feed nutrient odour
    """,
    "food/bread baking": """
        bread dough flour yeast loaf oven sourdough crust starter baker salt crumb kneading proving rise wheat
        rye gluten baguette tin water oil fermentation hydration stretch fold banneton scoring lame steam stone
        slice toast roll bun bagel focaccia ciabatta brioche seed grain mill wholemeal spelt bakery peel shaping
        retard poolish biga temperature
    """,
    "food/cheese making": """
        cheese milk curd rennet whey cheddar dairy goat rind cow brie mould culture ripening press cave salt
        brine cream ewe cloth vat stirring cutting draining affineur wheel parmesan feta mozzarella gouda
        camembert ricotta washed blue bloomy lactic enzyme pasteurised raw creamery herd pasture tasting aroma
        aging wax thermometer cheesemonger butterfat hoop
    """,
    "food/coffee roasting": """
        coffee bean roast espresso roaster cup grinder aroma crema brew filter origin barista crack drum green
        blend arabica robusta acidity body flavour tasting cupping chaff batch profile temperature farm cherry
        washed natural ethiopia colombia harvest bag moisture cooling light dark portafilter tamper milk latte
        pour kettle extraction sample caramel citrus
    """,
    "food/chocolate": """
        cocoa chocolate bean bar truffle butter ganache tempering sugar praline dark milk mould conching
        plantation pod ferment nib cacao chocolatier roast caramel nut couverture bonbon filling coating shell
        winnowing grinder criollo trinitario forastero origin tasting snap gloss bloom powder cream vanilla
        hazelnut ecuador ghana madagascar single workshop dessert mousse percent
    """,
    "food/olive oil": """
        olive oil grove tree harvest press mill virgin fruit bottle pressing branch acidity tasting pepper
        bitter grass aroma paste centrifuge stone extra polyphenol variety picual arbequina koroneiki leccino
        tuscany crete andalusia rake net crate malaxer filter tin dressing salad bread estate pruning drought
        terrace bottling label panel defect rancid storage
    """,
    "food/home brewing": """
        beer hop malt yeast brew wort barley mash keg ale fermenter bottle lager grain boil stout gravity sparge
        hydrometer bitterness foam brewer recipe pale porter pilsner saison cider sugar priming airlock siphon
        kettle chiller sanitiser temperature conditioning head aroma dryhop extract enzyme starch attenuation
        cask tap barrel cap batch mead
    """,
    "technology/energy/solar panels": """
        panel sun inverter roof cell energy power photovoltaic battery kilowatt installer silicon module array
        grid tariff installation sunlight shading efficiency mount wafer string meter voltage current charge
        controller export storage electricity tilt azimuth wiring warranty rail degradation monocrystalline thin
        film irradiance watt yield subsidy payback planning hybrid optimiser tracker
    """,
    "technology/energy/wind turbines": """
        turbine blade rotor wind tower generator power farm nacelle gearbox energy offshore grid hub pitch yaw
        megawatt capacity output gust foundation monopile cable substation maintenance bearing brake anemometer
        wake height noise planning developer repowering torque electricity curve site survey mast crane
        installation vessel composite fatigue lightning icing curtailment vertical axis
    """,
    "technology/making/model rockets": """
        rocket launch engine fin nose parachute motor cone altitude recovery tube igniter pad flight thrust body
        streamer stage payload propellant impulse countdown altimeter ejection wadding balsa kit rail lug apogee
        drag stability centre pressure mass club range safety certification simulation electronics ground camera
        descent glue decal paint burn black powder
    """,
    "technology/making/weather stations": """
        sensor rain gauge wind temperature barometer humidity anemometer station pressure forecast data logger
        vane mast screen thermometer reading console wireless record calibration battery radiation website
        upload snow storm average daily monthly climate observer network dew solar lightning detector firmware
        board antenna graph chart garden software pulse tipping bucket hail
    """,
    "technology/signals/amateur radio": """
        radio antenna signal frequency band operator transmitter receiver morse call wave transceiver repeater
        contest dipole key shortwave power feedline coax tuner propagation ionosphere sunspot licence sideband
        station log card beacon satellite microphone static noise tower beam mast ground amplifier kit soldering
        packet digital voice net emergency club skip
    """,
    "technology/signals/astronomy telescopes": """
        telescope mirror star lens planet eyepiece galaxy mount moon nebula observatory sky aperture refractor
        reflector focus dobsonian comet jupiter saturn camera exposure tracking guiding polar alignment
        collimation finder catalogue cluster magnitude seeing filter darkness light pollution tripod occultation
        eclipse meteor sketch imaging stacking constellation binary variable sunspot crater
    """,
    "pastimes/chess": """
        pawn knight bishop rook queen king board opening move endgame tournament check castle player mate gambit
        square defence sacrifice position clock rating master champion puzzle tactic fork pin skewer variation
        sicilian ruy blitz rapid draw resign exchange file rank diagonal notation engine analysis club league
        problem passed promotion tempo zugzwang stalemate
    """,
    "pastimes/stamp collecting": """
        stamp album postage cover perforation collector issue catalogue mint philatelist postmark envelope sheet
        hinge watermark gum printing error commemorative penny mail letter country queen king colony auction
        dealer value grade tongs magnifier mount overprint block pair variety airmail definitive cancellation
        engraving society exhibition rarity swap thematic philately
    """,
    "pastimes/model railways": """
        track train locomotive layout gauge scale wagon signal station carriage steam diesel controller points
        scenery engine coach ballast baseboard rail siding tunnel bridge coupling decoder digital wiring
        platform depot shunting timetable branch line goods freight kit weathering tree backscene plaster
        modeller exhibition club narrow garden chassis motor bogie viaduct turntable
    """,
    "pastimes/jigsaw puzzles": """
        puzzle piece picture box edge cut shape cardboard sorting corner pattern board table image knob wooden
        tray frame blade whimsy interlock thousand colour sky landscape collector missing glue mat roll cutter
        scroll saw plywood difficulty swap library lender maker vintage artist poster border solver contest
        speed finish pieces loop plate photograph
    """,
    "pastimes/coin collecting": """
        coin mint silver gold collector penny die obverse reverse grade copper bronze date medal hoard
        numismatist shilling dollar crown proof catalogue auction dealer album roman greek emperor portrait
        legend edge reeding strike planchet patina toning wear circulation error token value rarity holder
        weight alloy treasure detector museum commemorative currency sovereign numismatics
    """,
    "pastimes/kite flying": """
        kite line wind string tail sail frame spar reel bridle beach delta field nylon diamond rokkaku flyer bow
        festival stunt foil power handle swivel knot ripstop bamboo fibreglass carbon parafoil box sled train
        launch lift gust angle fighter tangle winder sewing appliqué workshop cellular dragon anchor ground
        display team ballet trick tension
    """,
    "culture/music/folk music": """
        song fiddle tune guitar singer ballad session banjo dance festival accordion melody tradition flute
        whistle reel jig harp lyric mandolin concertina bodhran pub chorus verse shanty collector archive
        village recording album band ceilidh morris waltz polka hornpipe drone pipes bellows bow string revival
        field rhythm harmony travelling hammered dulcimer
    """,
    "culture/music/violin making": """
        violin bow string spruce maple varnish luthier scroll bridge plate workshop cello viola peg soundpost
        fingerboard neck arching bass bar rib purfling glue tone gouge scraper plane cremona stradivari guarneri
        model mould template thickness tap ground resin tuning tailpiece nut ebony rosin horsehair repair
        restoration instrument acoustics wolf player dealer
    """,
    "culture/stage/puppet theatre": """
        puppet string marionette stage theatre show puppeteer hand glove shadow audience play head wood story
        voice costume carving rod screen booth control paddle joint scene script children festival workshop
        figure mask foam latex papier mache ventriloquist punch judy bunraku silhouette lamp tour company
        character curtain prop rehearsal scenery manipulation
    """,
    "culture/stage/ballroom dancing": """
        dance waltz partner tango step foxtrot floor couple quickstep rhythm rumba hold lead turn samba
        competition studio shoe dress frame teacher lesson heel beat judge tempo jive cha paso doble viennese
        pivot spin posture figure amateur professional medal exam social salsa swing orchestra music promenade
        feather natural reverse sway grand syllabus
    """,
    "culture/letters/calligraphy": """
        pen letter ink script nib paper stroke alphabet italic brush writing hand flourish quill scribe line
        pigment gothic copperplate uncial serif capital minuscule ductus spacing slant ruling parchment vellum
        gold leaf gouache manuscript illumination broad pointed practice exemplar lettering envelope wedding
        workshop chinese arabic margin layout guild monogram blot pressure
    """,
    "culture/letters/poetry": """
        poem verse line rhyme stanza poet metre sonnet haiku image metaphor reading voice anthology rhythm
        ballad syllable couplet word page free lyric elegy ode epic villanelle sestina iamb stress foot
        enjambment pause magazine prize collection chapbook publisher translation recital slam workshop draft
        notebook laureate muse spring autumn silence love sea
    """,
}

LEAVES: tuple[Leaf, ...] = tuple(
    Leaf(tuple(path.split("/")), tuple(words.split())) for path, words in _TAXONOMY.items()
)

_GENERAL = """
    time year people way day place part work week group number point question month house system company world
    area family life hand side case problem fact home water room money story book word job business issue kind
    head service friend power hour game line end member law car city community name team minute idea body
    information back parent face level office door health person art history party result change morning reason
    research moment air teacher force education page visitor link list news event letter photo picture guide tip
    answer shop market price order project plan meeting summer winter spring autumn weekend evening town village
    street country region club school museum library centre newsletter article report review interview diary
    column archive index search address phone mail account profile comment reader editor author volunteer
    beginner expert customer neighbour committee council university college student course lesson exam skill
    method material tool kit equipment machine engine box bag table chair wall floor window light colour size
    shape weight length speed distance cost value quality choice example detail difference success mistake
    trouble holiday journey road train bus station hotel kitchen garden river hill field tree weather rain sun
    snow wind sea beach dog cat horse food tea dinner lunch music film radio television computer screen
    programme website password network paper pen desk file folder note card ticket gift fund budget tax bank
    insurance grant prize record score season match player coach winner crowd
"""

GENERAL: tuple[str, ...] = tuple(_GENERAL.split())

SENTENCES: tuple[str, ...] = tuple(
    line.strip()
    for line in """
    The %s of the %s depends on the %s and the %s.
    Every %s needs a good %s, and most of all a %s.
    We looked at the %s before we moved to the %s.
    A %s without a %s is like a %s without a %s.
    It took one %s to find the right %s for our %s.
    Many a %s was lost because the %s was too close to the %s.
    In the old days the %s was made from %s and %s.
    Ask about the %s if you do not know your %s.
    There is a %s for each %s, but the %s costs more than the %s.
    Our %s was pleased with the %s that came from the %s.
    Nobody had expected that the %s would change the %s.
    Keep the %s away from the %s until the %s is ready.
    Some say the %s matters more than the %s; others swear by the %s.
    First the %s, then the %s, and last the %s.
    The best %s we have seen had a %s, a %s and a small %s.
    You can learn the %s in a %s, but the %s takes longer.
    When the %s is done, check the %s and write down the %s.
    This %s shows how a %s can save a %s.
    Between %s and %s there was hardly a %s to be found.
    A new %s has been added to the %s near the %s.
    Look for a %s with a strong %s and an even %s.
    Why the %s works better than the %s is still a matter of %s.
    They brought a %s, two of %s and plenty of %s.
    From the %s you can see the %s and sometimes the %s.
    The secret lies in the %s rather than the %s.
    Last year the %s was better than any %s we remember.
    If the %s fails, use the %s instead of the %s.
    Both %s and %s are found wherever there is %s.
    No %s is ever the same, and no %s either.
    Half of the %s went to the %s, the rest to the %s.
    """.splitlines()
    if line.strip()
)

LINK_SENTENCES: tuple[str, ...] = tuple(
    line.strip()
    for line in """
    More about the %s and the %s: {}.
    For %s and %s we can recommend {}.
    See also {}, where the %s and the %s are explained.
    The %s was first described by {} together with the %s.
    A friend who knows %s runs {} and writes about %s.
    Compare the %s at {} with this %s.
    """.splitlines()
    if line.strip()
)

GENERIC_ANCHORS: tuple[str, ...] = (
    "here", "click here", "read more", "this page", "more", "link", "next", "a friend's site", "website", "continue",
)  # fmt: skip

TITLE_ENDINGS: tuple[str, ...] = (
    "guide", "notes", "history", "for beginners", "questions", "in practice", "photos", "diary", "basics", "news",
    "explained", "tips", "reviewed", "weekend", "stories", "season", "letters", "at home", "today", "workshop",
)  # fmt: skip

HOST_ENDINGS: tuple[str, ...] = (
    "club", "news", "world", "society", "online", "corner", "friends", "journal", "guide", "forum", "house", "notes",
    "centre", "pages", "hub", "circle", "weekly", "zone", "base", "life",
)  # fmt: skip

COMPANY_ENDINGS: tuple[str, ...] = (
    "works", "supplies", "trading", "direct", "brothers", "partners", "store", "company", "limited", "group", "makers",
    "services",
)  # fmt: skip

DIRECTORY_ENDINGS: tuple[str, ...] = ("links", "directory", "index", "resources", "webring", "list")

PORTAL_NAMES: tuple[str, ...] = (
    "daily", "start", "metro", "everyday", "open", "town", "people", "family", "morning", "evening", "central", "plaza",
    "bazaar", "mosaic", "lantern", "harbour", "compass", "beacon",
)  # fmt: skip
