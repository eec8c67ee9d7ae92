"""Whether a message may tell something to remember, judged by its vector before a model is asked.

Kernel ridge regression on the vectors of the null prompts, which tell nothing, and of examples that
do; fitted once for each embedding model. The score from which a message is sent follows from the
examples, each scored by a fit on all others; they are harder than what people mostly write.
"""

from __future__ import annotations

import asyncio
import base64
import lzma
import re
import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaptive.core.errors import EmbeddingError
from adaptive.core.messages import has_words
from adaptive.core.ports import Embedder, Vectors, VectorTable
from adaptive.search.calibration import script_of
from adaptive.search.vectors import SharedVectors, query_vectors

_FloatArray = NDArray[np.floating[Any]]
# Quantile of the normal distribution: 2 % of the examples lie further below the mean.
_SKIPPED_BELOW = 2.0
_RIDGE = 3.0
# Nobody waits for learning, so the embedding provider may take its time.
EMBEDDING_PATIENCE_SECONDS = 10.0
_MOST_PARTS = 8
# What is longer may be about several things.
_LONG_PART = 400
_BLANK_LINES = re.compile(r"\n\s*\n")

# Messages that tell something to be remembered and, below a line of its own, passages that tell
# nothing of anybody: ``tools/prefilter_examples.txt``; lzma and base85.
_PACKED_EXAMPLES = "T>t<81poj4|NsC0{{S-_iXv~Sa_(KrZS5V`pzGF{&lj;)$pEbrHO1F2G&Qp0CXqY|r*Y2lRb#Z3*VJK0$5Wi&oolLPpzknbj{GBeJ`B$#@_}h|0Y0>@+I;oOje6@U@o*I5VH`R9$~XwAdubL;6)psyK8NY#9xD!xCpFkaecH-GmW`*VB^Dn31R<f3<l8Y1|Gl$MyhAEt??|Em13Vt-_4-@@7Pd3&^m{nt&)iuhTDsOi=ygP~7dzf1lF>_*vx2)rM<yfjsR-`$2YHcG11e{y?9cO&eU<4K?k*Y;UF%eN%<}ZONVxQm1{VnWQq4dhU?I?E2Re+b&J}nFW;rX~X3}4!cq#D^0pi%6sJeHV2et}Zm<!`~@v}O&(&|yb9U5fIXJM*_2Ggyw&!@E}frN!TMj8%djk@Yb5CRxhi|&4A{i-5U%N|Fsm(+7GL+=k+-&9R8hwRdoOuLlJ9!o?t3C^PikO7;a&O?Wyi9g9q8MJisc(}lfzEHlr1nX<enNU${p#B#D+j^DeiXWOw%}!$1xMj>vwrkIee^Kmqbm;?g5Kf&fqzH+HZ>=JzUzL~~J!4A1*W@Jw>?@-f2(mc=GYcVtTprM-5>!$V)-Zq)66T?Hs|T{=r3p&IniEX;iG`>)t_TqFEbKD!KWzuZnv-Qq9Z-_nKtb|;5=%ao`uJWf92je4qt}i~h});4Py~mt_knL2EzDtoKci@jWb(+TbsyGP<9wMI$@8Ot?b7eLgUA9L^%=umR82KE!|f&6oMdd!b|L>%1O?`-=TpYm=Q*T~cp*YIUGaP}69Q2nfC5i!T4$C($xf<x)R7Yg<!i3!vL$rO7X)$JCiAq(XRwY#{(2C#9fHK;fzvI=!E?`ZAGKt<_ZhKJ7luZG53I`~Oh4lJn%%;Ry5n9l%=z{rM~T*T-6wQ9*iRW}cR(#YFp{qb@;Q4LJ|cSnvqx>Rr}E?vnL2b8*$>Y3W+kiShacC6EUc&JxN)}T00=7kEuL9ea-f8w#WomJ6<3QZ=isVNgLbFc3s33WoB6aONZ74WyLYdP%Hc=`{L%*Db08M8Z6_UGEj?j6H}d(*<TN@OGj-%}5T2}ju<>+;)mT;QNKHmC>OTQrZF<EQHQoqW@&#eqL??QkWzgGR^r(h1MtqxtkFygt#MIF^?ppqIUu)%-69W_<w-$f4!po+@f6PE+PZn<RH5`R;`6KNXuoK8R@c&+2Jm0^^u;q{jwlbUr9M2=9ds+!iOX0NB9V8tpw_qXbkKN2cI%(CN^Itdpc`v9+az5T^TvXA2SHdgLhXA8zM=l93Lj!eqF`q5=nLR=XSP)bQdM#h@QRAWDw79aGkxv8<(AfMAtejs$B|)&Zx>%NdNOZzxx<n4c!wPQ1c>e>zNifQD^?gf^8h&>5vZtS#^k&Ti5FLh-JnLxuzwDR=mW!%3ypm2*d(4(mRvhVOkHRvUCbyd5alu-2KruqzG-?sdaxNSUee3}5dgMyGelI8F(IWh6e|Ez#Bh2eMSiG*$gmg*J+vfTkvAM2S=d}#POvm$%vJq|4FQqPXDq$W7#}IwkXZM?6!3qn}XBOJLuHT;56x<Ba6XmACn19L)s-pBeq|NDvfa0Wkl?HjA)b}@xqXmmn7&9`PhYdB-govi6$JIW5AwirmMgovbLhqF>*ax8{!ZUZKNel&WeTa%EQukXNFS;&XyMStc!12;{Jo?`Xq~5Ovl-Lw5WVcgl;rY3?95GBXMYWpW>Zk`|O<_9EmR(kb^W?z3WktZjuk9+}?NGJ}fer`JahFpE&Q$|9&SF|~F0*d8TwBlDMnolg%WzvNi;W4Twg)fhN>}^CP&t<JpL8X%j6#X8@>3iTDE?K8Y)*=UQd^ll_}tj*W(3jCkben!tM@D6(>qpmk$Xi-kvF^=vx~JCORtnd?dCe3QwnA3!7atq$o0bUg<$+?4)JZEfDFZCstl}n)Lx0qLMawClJoNAd4Fiv5OR@7PG|8`HNDnmY@rMODHO>&l|H~$Wx=eKNJZDud(5lF&e<FW>xq0SP41m3NL5uAe-GGP+|65jVqf_1+RVQO{F9vg>4JxS<je-|?TpBYbxx`K^D{Fl_7~s>q$DRMQn~+Gj^*2GMNw}lbk!9p(_vE&*6)OlS~EVQmh5-ymLTTBqz_hz^lqQf%^#Ic^$U~%&`BvFh-0T=Y*8vc+ai>c*;%N8(hx~Gy<YUd0=*w>QF_z20A$$M>$bsnwB4?pA>G_WJ|}JwB$&rVtKr`MT(IBbvviD@PEpFxzxZ6U_}|cgJ17OkBVP>bG56+@IXI&f4sNV5c^xcoIni#ztL;t9i7uI#(1=s^r4-C83?4w#0|WO|VQ~VV(~7pk;M;m{=kop)7&TUBz@Pkoj_-0?oW#%7EGJ`9ND8+?fe?<l@H|C(`e~*Z={;9{3&-+NSA^32n+?vpnc>{sER!tT(fc<e<{EgygI-6^-BoTbiNsn}^K`*QlIMDX2SLEnVJlR5eHJEq<9u4{7Eobkl08$LAoD?pPBJH&X*uX@BM~J40|0t6I)(m@OQs_%218fzEM+iPJsnu;?8-1`9X-Q5eR;yzG+`L@K_=ie3ysLrmn!F7ki@*FQnXo(%n96OSl|Mq3Wf=~G<dlMJ@QhQNnE=q;oodJ_6$+LKIJGAK{bpe{&aP|xhB-qEP#Tne;KVy9E;Hzp@clRf#$Qj9k|c$_m@HmreS__9nBK<0R~gJ4T)JfC9-@~+dRHEX))s~d<zMqS?*px2%is-3I1M?5lpLC1DTZZfVEvGcJiXB6HQzXH{v_@z?xDHpt|JA8Zoe%jt0c`bWn8=#(OFzct8(f`5cy-*DwM!v(s``q?}t(y|{TlEfdoft)0H64L+Oa{z^Iyzb|qCv;DV-G#dM1;6!V}(BSAh0tUJNp@nqAyC^cgavc7RW^U=P3(0kg?#oPtWtMWrtz}^+BF+(omu3nS0}f>)-ZQ2G)Z}L{!xvT2*cY%Oz5baJ$Nx@FR(?=5d!C{trc=hW;cS73Q{VLp_sN6W9Pj)#L)T%Q0n-5J2lcmqp*vGO0S3qu_1{B8?%~yMg-CmYf2%y<eAi4btgOF%wZXk1BnVms{wxYlb?-z<=kCz<6U3_7hCr(GkOP;gqvg~{%7eS;kDIh!9aP!1$?>jh9`8DRUbFkJxl%p@r=%(%QJIVUrmt0A+(vP&S|L(_idS!99@p`_jp;<peKfep(tMZXfL5+op!5jj>DiS<!LxE0d^Yd%$!tPgHheEvx;DF?j@+m`^<F5`Nv1@-e#g0Q#^)$Ki=W++!z$AQG;g_bC4PK^_t=EYmEcJH37(DlifZ*MuAfR#<@_NyU#y6k1Do^n+)3C!o6e9#6+mo|FO3~#H)TL5JE=)irLT3N*tWX$fBxrQ^h&RK3MKo69MdK-`Jsw*L#mjNOkb+(tv-($zC1K5MbO)`vX)R5X(GHwK*1GXO9!W30at#dQV%-X^ELxbQRfUnh?^&cwFf!y+lSRbcnxJ+ZXn=zbGLt_e=;jN>3QW_f`czuNtB4GAy8Cd$tB%`zeQ;TH&VgscWg*ZrC!y}Vzr#_eJ`<)K>ojd>jg3aZ{<6G=z|7f97Fn3*dOIs_c59hwUyizAAb5Hlt)(E?6#>0+|fvJ{72s)H=|?TSRV|*T|ky@mL1RYQjpN<VR61dc=;oE@W?n_kQH{3a1I5{n(d?*T7EJ~&@C>H_r5>w(twk>bHHK7ns9A1k{<Akf^g7vef;=R9O|ji>x=axOed?a@I=_KSGI;(vf9#a@-5?at$X2@<Ek}$v1aLIdnl`Ge|n2ncmeHJ*XzA@b`!3Zq(91NpviSEjf{tz(KDW>LlitC?+MhYLhgJQq|7N#WUgDtDCYAlYCX<{k+TSE4P{dFDMSmv6>-Z3gqk(zg3je7eH<)<-C_x7lB>*$0^R7iL-%JWVQQ#pSQD@=uwH9|08nFcaMR*P&s(x<G-WFL-)+<$+IiSKFzl`V@a`1Y68AZX*%m28%NN9W-^r@nrI`jY_HXglb?F#n^`c1a1WGe@meCtWQqp=+K<z7JTZKy`eGo3*{MzDIQVlrP>x8%maqe|`kflH%v!1p?WLP&2-Lr8TbZ<~1UUE7YGO;l2jWdIzVSYl$kphS9@jsPiOi^<32!M@*a!cL#0PJTZ6aCt6|As|9mmxv8?e-7pItRHBx)PPdT4(Gw$E{4OKn-nieq&YJ`@G!|2NrfQS;)u(;BL6jhxlP%X&M(~++tnBltpI8MuSKC402_RKjj)uv?R2vWkCdudhfH=xKR)0MY&GV8{;?=1&=-E^B?8&7K#*lWDuio^=9O!yP-nUL76S9VHa>>4Z*~EW3i!q_>0=8MiUagd-&9hzqS!^0XQ{x!c27<1{^Z`?W~dcD3_QIO{E$I-=OBxa+XNQw3uR5b12X_&LmR|+^u3sUzanvJ%{B<w~gNgY)q7@s(G<|o458p1SJ1K6vS2vVIb$9-$O@-{?WSjptt5gFacCNVD}~tNtkCpw`Rd*+{=*DaaCS4$%>7E3E027%|lj(V$vhZAEk!6likT>`5UVSj!Jh5Ir+#>%lS@<4ZXGCzx>;Zn>?)ED$kW_34%;mjO0?;!f22O*=9vOI&7N0x}Ek$s@6H7FlIU{pu({J4R9X=?*&xeLAvnL*^{4+`V+u1=omDq=%#*$BZz!okI{!gDWR2Zo>?ZC`{&aAytvk%nS!kh+2JV=EmcYtIjHS*J!xo+?j@qnKWUhPvnp2YKH}EvhqgDKNnuFcG7vtE+))b=i8Q*I%+JaN<s_jL|8^VwzJa1(f0{{Z!0?PPf}DB>M_ca$gcnu)hXd^UE0VnVwM=COLE}L_tj)w@`+%W+r&wEnsn|AQi`U0pp}f3$C2fmSlznI!iK@?Kui)tXX7iE?qN4CIO4K%2`vMw9Ex~{F;NES^*fQB<h6B*U#9VYssCoi1Au1d@Z^;Kelx=LbLM)sJoBz0}l!^vcs%I&Orn+Q{AJ&c}Nog0ZY#*z1c;*B&iMOy)z#J_%Q#V`?E~ffO(Wvkp6hzmFZz)N5n*>2(`UM1X7^cITn2#go4&u^W#%QDzMi8wg7*;d(8d8JYqkijSYQ_qS^0Y$<#w8?IR{&7~UvoEwY4144L6UkTg24>%0I0SBx0ERZ{_U!B4+;9*pKGxiP~v~lrAQscnU8su*7&YT9%t)w)8%g*+}q0W8t1nE{RzYi"  # noqa: E501
_TELLING, _IMPERSONAL = (
    lzma.decompress(base64.b85decode(_PACKED_EXAMPLES), lzma.FORMAT_ALONE).decode().split("\n==\n")
)
TELLING_MESSAGES = tuple(_TELLING.split("\n"))
PREFILTER_EXAMPLES = (*TELLING_MESSAGES, *_IMPERSONAL.split("\n"))


@dataclass(frozen=True, slots=True)
class FactWeights:
    """A fit for one embedding model: what it compares with, and the scores that suffice."""

    examples: _FloatArray
    weights: _FloatArray
    latin_bar: float
    other_bar: float


def trained_weights(nulls: Vectors, examples: Vectors) -> FactWeights:
    """The fit; rows of ``nulls`` and of ``PREFILTER_EXAMPLES``, normalised."""
    rows = np.vstack([examples, nulls]).astype(np.float64)
    telling = np.arange(len(rows)) < len(TELLING_MESSAGES)
    targets = np.where(telling, 1.0, -1.0)
    inverse = np.linalg.inv(_kernel(rows, rows) + _RIDGE * np.eye(len(rows)))
    weights = inverse @ targets
    scores = (targets - weights / np.diag(inverse))[telling]  # each left out of its own fit
    latin = np.array([script_of(message) == "latin" for message in TELLING_MESSAGES])
    classes = (scores[latin], scores[~latin])
    bars = (float(some.mean() - _SKIPPED_BELOW * some.std()) for some in classes)
    return FactWeights(rows, weights, *bars)


def fact_scores(vectors: Vectors, weights: FactWeights) -> _FloatArray:
    """How much each of these normalised vectors looks like one that tells something."""
    return _kernel(np.atleast_2d(vectors), weights.examples) @ weights.weights


def holds_fact(words: str, vectors: Vectors, weights: FactWeights) -> bool:
    """Whether words are worth sending, by their vector or by one for each of their parts."""
    bar = weights.latin_bar if script_of(words) == "latin" else weights.other_bar
    return bool(fact_scores(vectors, weights).max() >= bar)


def _kernel(some: _FloatArray, others: _FloatArray) -> _FloatArray:
    """Vectors by vectors: 1 for the same, less the further apart, with products of dimensions."""
    return (np.maximum(1 + some @ others.T, 0) / 2) ** 3


class Prefilter:
    """The weights for each embedding model that this process has met."""

    def __init__(self, nulls: SharedVectors) -> None:
        self._nulls, self._examples = nulls, SharedVectors(PREFILTER_EXAMPLES)
        self._fitted: dict[str, FactWeights] = {}

    async def weights(self, embedder: Embedder, table: VectorTable) -> FactWeights:
        """Those for an embedder's model; the examples are embedded once for all workers."""
        name = await embedder.name()
        if name not in self._fitted:
            nulls = await self._nulls.made(embedder, table)
            examples = await self._examples.made(embedder, table, nulls.shape[1])
            self._fitted[name] = await asyncio.to_thread(trained_weights, nulls, examples)
        return self._fitted[name]

    async def may_hold_fact(
        self, words: str, embedder: Embedder, table: VectorTable, known: Vectors | None
    ) -> bool:
        """Whether words are worth a model call; without vectors everything that has words is."""
        if not has_words(words):
            return False
        if known is None:
            return True
        try:
            weights = await self.weights(embedder, table)
        except EmbeddingError:
            return True
        parts = spoken_parts(words)
        if len(parts) > 1:
            known = await query_vectors(embedder, [words, *parts], EMBEDDING_PATIENCE_SECONDS)
        if known is None or known.shape[-1] != weights.examples.shape[1]:
            return True
        return holds_fact(words, known, weights)


def spoken_parts(words: str) -> list[str]:
    """At most eight parts of a text: its paragraphs, long ones in pieces."""
    pieces = (textwrap.wrap(one, _LONG_PART) for one in _BLANK_LINES.split(words))
    parts = [part for some in pieces for part in some if has_words(part)]
    size = -(-len(parts) // _MOST_PARTS) or 1
    return ["\n".join(parts[at : at + size]) for at in range(0, len(parts), size)]
