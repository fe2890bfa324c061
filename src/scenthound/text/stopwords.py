"""Stop lists by name: `english` (ours), `dialog` ([CHAP]), `small` (the worked examples), `none`.

Words have the form that `tokens` returns: lower case, without apostrophes (`don't` is `don` and a dropped `t`), not
stemmed. The English list was written for this project, word class by word class, and contains no word that could be a
topic by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENGLISH = """
    a an the

    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    one ones this that these those who whom whose which what whoever whatever whichever
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
    each other others another such same

    about above across after against along among amongst around as at away
    before behind below beneath beside besides between beyond but by despite down during
    except for from in inside into like near of off on onto out outside over per regarding since than
    through throughout till to toward towards under underneath unlike until unto up upon versus via with
    within without

    and or nor so yet if unless because although though while whilst whereas whether
    either neither both else however therefore thus hence otherwise moreover furthermore nevertheless
    nonetheless meanwhile consequently accordingly likewise instead

    am is are was were be been being have has had having do does did done doing
    can could may might must shall should will would ought cannot need used
    ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren
    won wouldn ll ve re

    not no yes never ever always often sometimes seldom rarely usually generally normally typically
    mostly mainly largely partly almost nearly hardly barely merely only just even still already
    again also too very quite rather somewhat fairly really truly indeed perhaps maybe possibly
    probably certainly surely actually basically simply especially particularly specifically
    currently recently soon later earlier now then once twice here there where when why how
    wherever whenever everywhere anywhere somewhere nowhere elsewhere hereby herein thereby therein thereof
    thereafter afterwards together apart ago forth back anyway somehow well
    approximately roughly exactly entirely completely eventually finally

    all any some every few fewer many much more most less least several enough various certain own
    lot lots

    two three four five six seven eight nine ten first last next previous former latter

    get gets getting got give gives given giving gave go goes going gone went
    come comes coming came make makes making made take takes taking taken took put puts
    let lets keep keeps kept say says saying said tell tells told see sees seen saw
    know knows known knew think want wants wanted seem seems seemed become becomes became
    use uses using look looks looking find finds found show shows shown try tries tried trying

    able unable available likely unlikely new good better best great
    way ways thing things kind kinds sort sorts etc eg ie vs please thanks click
"""

_DIALOG = "an and by for from of the to with"

_SMALL = "a an and are as at be by for from has in is it its of on or our that the this to us was we with"

STOP_LISTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "english": frozenset(_ENGLISH.split()),
        "dialog": frozenset(_DIALOG.split()),
        "small": frozenset(_SMALL.split()),
        "none": frozenset(),
    }
)
