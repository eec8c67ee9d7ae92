"""Which proposals say what is known already; no model is asked.

What is not proven to be the same is new. The words in which two statements differ must be a
rewording that ``tools/train_duplicates.py`` has learned ("lives", "resides"), or be made of such
words while the vectors are very near; numbers, names and words not learned make a fact of its own.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

from adaptive.core import (
    Proposal,
    Vectors,
    each_open,
    listed_lines,
    stage,
    unpacked,
)
from adaptive.learn.proposals import SAID_TWICE, repeats
from adaptive.learn.quotation import word_units
from adaptive.memory import FORMER_CONTENT
from adaptive.search import (
    MemoryIndex,
    RankingQuery,
    folded_text,
    rank,
    tokens,
)
from adaptive.settings import Settings

# Likeness (see ``calibrated_likeness``) from which learned words need not be a learned rewording;
# in cross-validation nothing is lost from 0.85 on.
REWORDED_FROM = 0.87
_SHORTEST_BEGINNING = 3
# A new fact is compared with so many stored ones, the nearest by words and vector.
_MOST_COMPARED = 80
KNOWN_ALREADY = "already known"
REPLACED_IN_BATCH = "replaced by what was said after it"

_IDLE_WORDS = frozenset(" ".join(listed_lines("idle_words")).split())
NEGATIONS = frozenset(" ".join(listed_lines("negations")).split())
# Groups of phrases that may stand for each other; lzma and base85, by the tool named above.
PACKED_REWORDINGS = "T>t<81poj4|NsC0{{TK1Nh;1GMV!d<Emba_57)bPTYVnyfwWtUr2B(v0nbsa-YiQ^uuf!}A}q~ElUTW&dHoSB!E5=fZ<fm~e47wfrxqk5VbRFWYb7$tG|{H;0!Kh|SS3##xO+4xMe$%DIcK+u)YbXL1P}oS?45KOU`VeCB!q#Cja|iY6ul^j(i;U1g_avrZil5Mz);Mx*(0^bG-FE>A)yz{a8uqVe4C3xww5da>_RBlliY*(O|ppwX@{0M2{fUbo^{`kT2W2T82ht#L%`u0#AiS&3n0=Lw_l#Ij>@&uItzubNs&)&X(-KTv#Phy0Xat?#2TNWsnXQp7c7VqBXxB%GS6TXu~GsqMQJx};Znn3@S5G`T79PWojE*0FqOvF@d`IrqVfH*R4rgDlF<#G8|m4>b)#GZ<nUi`m31lMGhbW)msVN%ER4R_og|1|t@s^>+aho&FTeI@TXQoi--<<0glm`$yW7j%mfV2hH4y1aNNG)+9a(LLyZguAs8s2GfOv=9+VM10HdggGI~2rC)M$;!nlm!m__drHI~T1->CZY5<To8vI|>992^FZnG$sBtAtm<fXd;iXwZ08}=?MVPfi63Nzq)%iWcZR;QUN>ta(|t~H~L~A>5Z0yW-L8`98ClW@qmW<Wb{@s5S-0w$5ZN&u{eG|=F-`Ry%&^Xbsek>?{=|AT$IaHfaCu?{gcQ*20TGF^&;2Xv7Y2nl=SjKu;{9b0v9P4iw0*cjcu%v8SHyy(}%JRSO_n3{<;?~!efClFZ8zV7olYeDKBdg0c1N+{=DJO0ds~jOe=D6Y=Gi`ZKT$X8&FnJN5nOuK<ZoRP)boBF%RdQr+VZ>GH1fqQ^<*!)ru`*&kc7$A<PLWE>61OeH6Rr5r0`(6mg#%v5&KW`Zia@C%NY-#qc-GACPd8bn*A(VEiZaRVU5hr~n%G7jI&0^TidRb|NI+nZ|Q=b|lIYWU+~k5zCe<7&eDYHDGbm!X1DGpAdujcH;4%a1@2{@^mD*G2R0ov;F2Uq(3X-BrA-h`4SW}MqnMtI*(QdE*vBLD%+mgGPsbTZe>b>n}Ex;m!@S32}eZx%zYzlKEA$UmVa%XNLYudK$gJoe*$^~8}8s+El~LZ8hw1-ECA>~-`?wkAHsT^ANVYlir&#jw!b{O@&r@5!n;Xdfq#jQvzf>^*>d}F22EDLgUKTJQ8k-3!dx`zLWQm7s}DD8|Czg+$ILjYUuDfJ#<O8yA>YWNhGP#{;05A#*79c+;)sl}<A7B<M5qKl&E0;84RJNp@UeMYD1iE}&<*7ixN)1B^=W~WOw5iQ6)-!=yy)7dNMLGA6OpA+f+dZdt0z&xRxix}l5JOzQs$X)nA@4KrE0ZsFdBMzD5q?t!8c$BwUxQwBmyGbcOaO`hxTP;o6m<(0&j#UG2fO6-!BbXQ3c&0j}U<w_D(Kp$8LSp2x}Z{UA@khM-*G5R-LR(u=OSbDiS6DG&YSj5#t@Gw@ACkv~mwjKy>1+fJa^b5;OuJ$xNy!P9sYqT3p6Qv!^-Wr;CwaaQREG5HxyU>f*|12#d|Sm=B6s&0kO)&ms!#hW!&(77~n5HG#(k#pmx@M*0b+EMK*Aw?F|E(~^TuS4p^6seTEHbM3T8T(5;G$6Y;Q#3w@#Zsp4g=Od-0-ls}mJ9{dWI%=pTt{s#yzMiusAbw&94&#>2OO6xi+YUe;+BfJ2*#@Mhkb!@VKVXAzVYUdvTPr8#=C6L7Fiy1HII^nud4YB6R6+Sdpt53;`$tyiOO$k}=q7>kQ~|pO=yXs|xqVc7(@+4;L<Rd(1*-6*atEhqdSW%@5x*ugD&D6$QQ#alq>iB^17mCW$hdj6+89xb_9Oy55J7SVyF-MW{>r50TN{`C+$THvjgr>OGttmhwbGDl2vGoc>TLV@Zk@h~u$~@9KzdRQoPvfh1Rncg8E$tFEm_ZZFAdc=9<Xb55Y*rAJ5^ufFW|v?cEm>ga9U^^ZCkC1-OPoH+}r$STi>nh>W^@0!k{<S=z>Nru;Ma<)iBR|b7-=R8BP*NvZ9GJnaQ``i>LS*%zTnc{_FM9Uk1^0mP>_HrMNL?7_%lOav4ok?Gp0C&8fWt)-Jn#rGFeV1nTfLdMlfk-;xgq8#lDLSJ*?<fat9n`ByM@s+Y4rh<6L51zi}h!-I+kr<m&~h8exYq?!ZDPZ_1{zJu+g*hbfOo8&0)T(XhY=DK6SUAh~m)EJ(jrdEs*Gv@O0Q%)yAGZ~$~Ex;w~I?Hfq|AbZrEa3%*^`!o;E=Lob;$Q!~WY_zrw*4=rsYW&T5I?#8nQndMl2IxF&)#d|YyE~T>?M1d-a$oW!oY>ACuw{I^zQB=gzH3ODI`Vtn+AgO+Z~+44KtXZttg+d^>Hv~#^Eo+m;Vx1u02g)e$lHtgsWZIwozQns*&B<XGs=E_H=QB@FW7CbY1Ijs`#}pic;=@Hq80gV}AAz9WAKp!?iRe>J>l(57(6Ie1sfE1Uv>uqzw3&z&>KL0+khG$;r6(HqJrh!jd%f^mAyPBeJvf>k(=xohyA^UMWI{fdFtO%{aGYllsR39pd&&Ftd|wofPqHnXyA`JA0{VAhq@1W#|_m6G*%a>Gl{mt8N)nH8nz-llXC~AD9UN&8^2LRZcUeybLDyr=CLnRz2uXm{9$t$bAu3d4;9@#rC2JJELlx`3U(-hVx2iE}OKX>03+$D9#am=<Tk`@F;lB%A7`4LEbMbxDO*_?U^=%%4j|(k4l~#E8P-nqVyL?PJp+&Z3sRHil;&|Hol{{T~KN&_ET`MaGa8`CVDgB$u(41XPx0EZR*sTs)y9$+&(Efmf3HR?R_SioPjWxH_d%m5xr=jeVSbKvz0WmdgV#xfjV3+hSG{Stm|r=gVXAh=iwC=Ej2gGq1dJlU8NiB53~YqY?!8ek@!deOMd*UkE_%nKFqBRc1OwLj*uS$4`PuDO0+=U%Qgk%PCdRgN!x*$-H++6U=!|Aiv;;lW5MrPy!`IQ435I!M-QW5m60cGiUoJZUl`FA`%A-QWl;q~A|Pg<xSI$*T|5SogK9Y3aCWw-M2QD1d@(k$<Gx2jQLxqPoOuFJ(%4L&Y(IlAbiPZIbOlx44X6Ga35d-bkXT;h@Ge{I0kKgyVG(L}w^HQBF>pq-CzIySeYvs;*zj`6l=>|1K(*eI^Wf2GWyH#UM5#4RLer$MHB(ImDjegaHuY%)2jU>Wj|G_2mqX>Ekqj?W%}dX6yJ~+>l<j`QICU)u(&xuSe!RF<9whl(<)8kXxPUNi!0MM!8wbg$F=;-ayi(!~yx7^#_-2@ZdDxOz95D=sd>B9zRF@Aats($h#N<vGu+>uFjuXB<x>~^H5ghQ;JJ*8_kIl~`QEw&c6N($hG3wnXpzdJwS6b(v9n!vA3EYn=_js)HX+xE9z1voO$7}K-xxYtinzxkkGpv+u`y5FM;S^H7G+7x!4&}GTpw*&ln9VOu<@#>(P<g)&m1r;UQb9;NXi_^=GZYbn*6NopMfxD2!|*dTNFj-rjjL9AOkk;<l2)!eo5v(Cfy?1q=OL-H2EfT8b>Ehu)ww-n7#T$QfpIRwo&|)Hg{D0PQ-mHP-R_E-<>bro;Szuo5}M2DRk;vxd7kO<IxN|U4t`i`TVfza@!~u+q!Qk;c2$&bwYH~R*k@i;LpuXFl&^5~PJ^qsRbSunNquz0UWdjmV+K$s+(8#OT*kT=5ng3a1Te@okX;!Djbxxbbo7XUR$OLK?XbWzkH^il9M)*#gUmJ(t5qSO9H1a~XV^vFy9a=tj7N&@|I@PdavN-yEOYHz#lqH_qd_DiRS1rEhh{$>f-R8+s=9z%5x7`fiVdBqcN_SN3k%Et7&hhOV~tH|v%N^7$@Vdaorw(9hg)#j)<EnU3ipE{Z{d0clT}TbLl;jz<)k(F>l;eRNdbU6U%B9Da97831$$g&R@TWDk;17DkZXT)#$kwM<sYu9TpP6H;|c@*u1#4PL)Q(xJ2i^@V27a2A|L^~?B5ssA=x7e!+88Vs#by%y9cO#Bx>n~Mw%%J_+PS}6lw-&mFSv#GmSJVSm~*goV4&^tRM-u+9-t&=j>ga@v=18LK5z;fW)4V8qcDhq;4-x6oVE+1wTCabuw^6=JG|3vJzT*O0sg_!(L#<m{ILD(e^L4rg;G)tzHZdH;IX)ct<T)K=%6NS`m{0zR3JKnB;Hc8(H)J<x7o{!zmzfi#2|}D+@Jk*VU}d10dOG?70sGW{A769d^UzM3__S^IAf3k3zLzQhIuAJU8PNO32#9Kq1-mm4^lV+jL5)tE5O!{-S20(4Ll#CaUcj`2$FvP9-jrGF)wgA4_f_^aBG+01X>!;r8J3qd!a^nHzp*iS<C*TflJQA8-d7=@ao$iqUv;3;<h#UcpB#Z>0aTK|P@*FjOUqiUTqM_GX0e2cv$Dat;2p)XTlIS4zmwf#zGn+DS!G$6Mr(%uJdzeSaaUcU7_|l!^uA`w(1q<RUtl?<}ZY^x7r#e2moAHc!AC5A|4q$Ro<Z;b4j%Hjb#+{#w+n0%8x{HPLLmRpoSXo}#UJrPZL^Oiw0{SX+9m{Th(Qs~W538Eo*`bgVvHtl{FH1$wN2$M$T5-6jta^sn%X^~kcodP;Z2U@Fk?|F5t_xC3QA`h4}j>e3c@ljD)&9%vt;ji+(Ia}d;P5A#y>;Un(;W3O}{iD8J^_ok<~0O>M)Me^d{_+gcF{@<dQ7||b~GKLm8Xj$Bk7d{C{=J%XgFzrC_DSt;uaNbks$~F<pl(hB&Uj0OW;Cfc$kOKNC?B&A5(bKp^bB3$a)G~H7VNgfw_Y^X-G#bLRgqJw^(qbs6sp+fWg6G%CzMO<|3gj-#>(56Q3-~K#Ly#X0+CqMZGRy%D5Qw&ct8Fu7AZ)r@tDXLoyc$&es_ovLHit7Y9w?$psDMLnB>CpD3?NSaVO73t`<+qb0ax($o4pI#g$S~cRug&vG|bz(te}TPqpT)3HEd@;I2RTXv{hWz3^v+VTIXaB*q^hf&qtCYQ!((K5LZ*?`Y_ppj^VE~P17M8{VTR8t76HS>d4Hr0@1FK7MX^%tPd0HYL@|SmJAPc^?EK<hxplp!!hP@n}$8)IyuwrFN%)vP>u~EEm7;06wzp(%;QBS!o(M>rd>%Hnc6P|O$S%Zo}x}Fy$Qw|y;XBKkxA;6rKlwP4-2N&U9lj_ZvF+ih04tkKnfu9_0$cBZl1lA$wTpki09)5m7n}5+-0NQc$$tPGt$kk_h}bfYG$WP9(6AN>w*mQEF%bGHJ+9wUH#Z;N`A*m;Wvs|<I4BG3nl+U<(RmyPjagN_@MBstiXBFu2_7$UNQVHW8(cn!GEsbSGQpysxqm$`|Qn&+F9>BD7%j!uUC7Hn0*ALE~#Lnt0%ej6vE#2KLkk&<6e|?zHYpdnie&yx_zNmCC;x7WHxh0aYLf6i^rLtVJoV(_|*B)E6SkWxiHU8eSS*V>J;ft0O@MO+CTh)HR!4ru@2h_br#W-`@qHe9dT0wHWcWQ;8s1aCAB}2H@f2WMBP_mC`MMn<<p+YTJGAki>~<d@W8h(IDcuHQa%dWF(JGh&IJ>vs}AZE%#=DvvrLbViY9;XPJ$%wpa2t`j8+lE*+%pA&W4=(Od652k+<B~$h#>tMFIOkWOs@M(dI+KGk^p~X1`&8P@YGxcDy8Cu~?u)D$AlHx_7J>z7_TO3j~!S@~l(Y1OBEx4Ju+l6wUolr&J{y_~Je&-qmj1_ty+_*rs?+!aT0tWQ&ZD2oj(uJfPrXdK3ct)owl>JkY|%55m6{UtlW|C7K5K0|yFB9s)MF3Xazv2f}M0N6hTvPoJz5A8;EG^&O0vq`5>K?d>67D8}zs3nM3%HI(sVX@E<uZqjwm?PA4VO!G-PKNLy|N441~@)$1eGlM3h%P2l7ua6WSSr0pZmAVf>fsJA~Z$9pdizGqG2;ecQFdRtVwS2Q)I1C)`Ea4gwLBDHu{;+hAtbPfZPmlD48_CNIgV^@~_ydbt=Im$$IfQ5T-a@O00(c^cy@GX9-;DQw8I2g?hB$BVuELekQ!_y-MP-AwFzp}}c3Jb0skk`z0=#8CGcK<r3#77N{lLz(3T8EdF^sVCQ^ucO-lH7d3e^yco8&H6WeL%JcAeiSO^eh8>K&~4tCor3$Yg?Zy;-$5z@Ov}`3V-wLVCoi6BFUWh{h0#@sy_;YdJz`!*n>EQGXx*R88LD$2c2Lx7Vt$(Qf4GxzyWc)5gP4m(Hn|Xsb}>oIPi~yxHyXHB(gPQrX30j#wo+(N2izZ0}uT`Eve~m!ij5I;~Cub*m4Npw{;a$fc{qySp9e7ApdKp>A=vW6Q&Pz*zd+)zXN*bL-tP;|vG`uaPQRDGrRg8*K|I{xu1@Jryo?OA-f+rnBQh9{0!if3{p+{$FoIHx&=+d26GOAb3WzG0+fMtN%@v0ib;@%KOWOCia71;e{IT!x;j<>`%7a35J9PV(4;h25%x)QMQ95LHeeou%>6h%d9Y@0Ol*^Y3nG}a~2!j1oQ*sg+skz?X^h9-me*sl@cVZb&(6G3m51^rA}IK*|PgX{QO!$LkB%bE-x?2I|16n{Y8+n^O0@j-T6Et2z$=s_A)xFLfc*>04MC!McsuE9Tlm}-Gb3!2?*jEBk#>vwRh$WGE~J_@5!`8P#l9~8Q2F2&P(svSRpoq-$h5yNQU>!Cck3FLN~4HaLUEHFj>t#J~_GM((`-tn(W~rabLwp+GlAZ8y)=jxC!@nRN{ifkFnL&K=`5jdH<6mr&PbbxwckYFAQ#dfZv{Mu^25p&{EiN$;?ax<qN|)ePb=06*;07T6K)^tYp{&qwaAG6i%?WE#iI)rTsvSI8vlV_*kuuqc;t-ZIrvs?Ze%dPdsT?G?Qq}#<@}K>05c#Vw^)wQ{>vX<nBpi)vi~k?M4JDhOKN`yd>4Nn7S44<q2p_6F*bMyZS>&GEJrKX6_bmCi5-GRLw&(_RPVg@Zv?1M*JKy)B`v_;pW*oU=-2|$gnScxab?NvMxy!Q~ibWQEs!}y;rx8uGRCK=GWX83d6(Bb_%;cidVv_S70t-<H<Cg`bv<^pBH~SN<}O_{|?uv-vFkgE<Kwufh^(8aqM5dow@P|f2MA>pP%zn=7#}WAetLxdpPqeCzB7t0%roI8W1lvX>wFuuXy#PDEBoJ${Y4>-l*CcbuGiqzU0;C`fTJSt4+{*{gFOgJa}$z%@&_PjunHOGSas3v7!iWzdn3gU)1UrhcXese|mOgs(UR+IgTeUZ+u?#d^Mvw=1#!{AFUtyA<$}ME0<d^c(ckJKfL%|<i|LwL+`HtDgU1*2Pr<FCs5H|Ng-^}*VV|^36C3kqKY=*8FktNeXXdA&^^ExbJLey@JAs2Uq7$}iftK6Ncdi2jR_=t5BW#FrPw{pv;|^82*Xi}p)+bSl*-+sAO1Q1-D<GeTl7q)A<pxeeBa6YUC4vkww=QvrzX>m5XDcz!6OBNUHi12AE46?6+@|C*YVA4d$*y)`rnkE@muZ7L{D~n1TmuhY$iTZueV(KpC4G9{<#^*IY{X<A!fC@QAF+~Rv;_gGcX-O`^Q)&$MDig7+uP+HXw-_Hml7X*FCLzzO>>T;3L>Js>mXt21VfmB_Bm6q-=mcWFOFKJCeSd`lOGBFw&cBDv#>n*lh2AD5dGcnaN<OCzgCz&shg<g~0in-0y?g6KAoQHT{cjjb<@u%&CllLM#*yjw6kd*4}?KR^4%gaYvJ_g-xG805FT7#8aFww`VV-Zvss(5jwZUx?Gio*&#GH607Fz5f3o~pH)~PUm0bkPQ@RyQd*ly^76i(qr(3TuJS02Ff|@5P941pAJ7qyxId%x%mj8aP>EvgMY!E}&@&y4&;TQxuEPDo&}wzrr;{xuNl(sxcC)sjI{^q=gg6$<988U>m0QA(H4Yu^TC}EX$G8i3y6vQvgZ6}n(pNwBbo2^peIXQ&^ifGaT!&X8Yfmsa8xKfGT-E0Z-GpHDNi|lhW+ixKn^#1_h;L}V?dpP#B8@Wh5JTfNRPeYE^NwTWdn!>tvFA!6Y#ka?18gY8%NM|R&kicU201e_ov@`nrRr{RnPQPwIeNy%7SEetP)XYX54ULNR1(^6k2C>0IEz>kbc2@`&xqkLlCzbCRzYj#2;cA8l*LwJp*fd2sSGR3{@TZ6S;6Y%vKs&)6h6sU&eO(A`NM;HK8x9`#25-*DfGxOcE=rH_^HFEN|(Cu#+Xv%_=RviUk?8NM6iG0DT<e@YBM$!52}A3{6yN3b{6+?L=b0GFA`{Hs;N4cU<yphtAL(K0V%Ls?Vg9m-ZE_*rHBNcy|!GrXKq}+oY(J6Y4Pe<Z-bQ4PO{lr^gj??DZ5x#m^wp(&pR_4f}09j+lxrXcTg*<L*MFvrPcQ5(ZqQn4JlyY#4o*QYeY?LWF)7<O`B7zXbZ;3t6lawPO-PtSh7CX3kwpF3Qt9K;~OV*OX8!jYZlfb6U&ESM3%7$zsSF@u6L76&gGQ5PE{tV%SEn55SBal*fQmgkkoF0_J`$<*oXJ+%j`7TMfM9LoP&fNS>^8CtG@<|d5;c&zvRTgp;>}cC7DU{uT@j!%7m(EiHF5d;1>UqjPKKsx3=qLL8d_~O{%GGKc$?%Hmy<i5-;xlj=}VJCWSq-q_$~jMZKzI0FU7w;sdKIAT4h7U5ovgje<|DL@t`LqhL<-IBz{cy-NHgEv%Sx&w;!h{r3vDac?K0Tf-Pscz840Sf!w;DNM@sUU|}eY~lc2ife>D)JpDqYW_sv#$N-6$4kNG?<=t!B%-N6DD7c*gsbBXUC7jGBK^m5<I<gCwqkpTwa1LO<Z0l+A1EtgmCJ|b?U6!*E44#SE<u-8*&XMyraV)wqMDec*)N$c^vVwMfeGA3qN;%DXvHZwiD*XYQPOp+F_J}<B61muRvI<TxdEAtJ>ICkIW8J$|Dm78og502{uA&~yG9p(j!Mimv^ipVUHcW-6+Pog0jXPY?MbUm-E<G;yACMeMCO$F>1iwK{M1%Uu$9B5NE$7c57TbyLnZ^K@gA=|C9s<m4li1?SRD*lxh>hcP1tphHe1H|hkO;nHtVv~TLTWa;3&kRbq<N5j^3fN8vaWOgcbC0Vft=2Y9@9CU)Z~k0ZO<rlbnPZO8j+Gces0pkD_MTmj4qITK6DADT3I4{Y?MtGE?dl*MMT8;c^UYbddr^k|l9eWEG}}Q_Ad&qu2&=`i|Q|XQao(q9(g_x#KY7P>+q8z$IwR&y1r(ly!-tXG~POz;>a#W*pWwPv8~AqEfkdp#r+c7sjM~jdt{55381T3U!kCBCs)}K#<@eLW~Emz1`!bt;{D$0@EJ6z!N@(=~s}yToHvMNwHCy-^Q`6bD600I#S!ys4ikU?$aYXVh^Nn?>e4Uo!aP4H>ia0<M1%ZII&>J!Gr&O-@@n"  # noqa: E501


@stage("reconcile")
def reconciled(
    proposals: Sequence[Proposal],
    index: MemoryIndex,
    vectors: Mapping[str, Vectors],
    settings: Settings,
) -> list[Proposal]:
    """Proposals of which those are decided that the store or the lesson itself holds already.

    Of several changes of one memory the last stands.
    """
    last = {
        one.memory_id: one
        for one in proposals
        if one.is_open and one.memory_id
    }
    batch = [one.draft.content for one in last.values() if one.draft.content]
    known = index.vectors_of(vectors)
    unrelated = unrelated_likeness(index.nulls)
    threshold = settings.similarity_threshold

    def is_same(former: str, said: str) -> bool:
        """Whether two facts say the same; a threshold for their cosine is an admin's wish."""
        cosine = None
        ours = known.get(former)
        theirs = known.get(said)
        # Another model may answer to the same name.
        if (
            ours is not None
            and theirs is not None
            and len(ours) == len(theirs)
        ):
            cosine = float(ours @ theirs)
        bare = FORMER_CONTENT.sub("", former)
        if not threshold:
            likeness = calibrated_likeness(cosine, unrelated)
            return same_fact(bare, said, likeness)
        is_near = cosine is None or cosine >= threshold
        return is_near and same_fact(bare, said, cosine, threshold)

    def step(proposal: Proposal) -> Proposal:
        """Hold one against the memory that it changes, or a new fact against all."""
        if proposal.memory_id:
            return _reconciled_change(
                proposal, last[proposal.memory_id], index
            )
        content = proposal.draft.content
        if any(is_same(one, content) for one in batch):
            return proposal.decided("superseded", SAID_TWICE)
        batch.append(content)
        if settings.deduplicate_memories:
            query = RankingQuery(content, known.get(content))
            ranked = rank(index.ranking, query, _MOST_COMPARED)
            nearest = (index.memories[one.place] for one in ranked)
            # What those that are changed will say is among what the lesson says.
            if any(
                is_same(one.content, content)
                for one in nearest
                if one.id not in last
            ):
                return proposal.decided("unchanged", KNOWN_ALREADY)
        return proposal

    return each_open(proposals, step)


def _reconciled_change(
    proposal: Proposal, last: Proposal, index: MemoryIndex
) -> Proposal:
    """A change of a memory, unless a later one replaces it or the memory is so already."""
    if proposal is not last:
        # What is replaced is not known: its user is told that it was not written, and why.
        return proposal.decided(
            "kept" if proposal.is_removal else "rejected", REPLACED_IN_BATCH
        )
    draft = proposal.draft
    memory = index.memory(proposal.memory_id)
    if (
        memory is None
        or proposal.kind != "UPDATE"
        or not repeats(draft, memory)
    ):
        return proposal
    labels = (draft.topics or memory.topics, draft.bank or memory.bank)
    if labels != (memory.topics, memory.bank):
        return proposal
    return proposal.decided("unchanged", KNOWN_ALREADY)


def unrelated_likeness(nulls: Vectors | None) -> float | None:
    """About the mean cosine of texts that have nothing to do with each other; ``None`` without any."""
    if nulls is None or not len(nulls):
        return None
    centre = nulls.mean(axis=0)
    return float(centre @ centre)


def calibrated_likeness(
    cosine: float | None, unrelated: float | None
) -> float | None:
    """A cosine on a scale that is the same for every embedding model: 0 for unrelated texts."""
    if cosine is None or unrelated is None:
        return None
    return (cosine - unrelated) / max(1 - unrelated, 1e-6)


def same_fact(
    known: str,
    said: str,
    likeness: float | None = None,
    bar: float = REWORDED_FROM,
    learned: frozenset[str] | None = None,
) -> bool:
    """Whether what is said now says the same as a known fact, and no more."""
    learned = learned_rewordings() if learned is None else learned
    ours, theirs = counted_words(known), counted_words(said)
    if _telling(ours) == _telling(theirs):
        return True
    negated = NEGATIONS.isdisjoint(ours) != NEGATIONS.isdisjoint(theirs)
    # "has a dog" says no more than "has a dog and a cat".
    size, begins = (
        len(theirs),
        ours[: len(theirs)] == theirs and len(ours) > len(theirs),
    )
    if begins and size >= _SHORTEST_BEGINNING and not _has_place(ours[size]):
        return not negated
    left, new = differing_words(ours, theirs)
    if not (left and new) and not _in_turn(ours, theirs):
        return False
    if rewording(left, new) in learned:
        return True
    is_near, words = likeness is not None and likeness >= bar, left + new
    if not words:
        return likeness is None or is_near
    is_doubted = (
        not is_near or negated or not (left and new) or len(words) <= 2
    )
    return not is_doubted and _vocabulary(learned).issuperset(words)


def counted_words(text: str) -> list[str]:
    """The words of a text as they are compared."""
    return word_units(
        folded_text(text).replace("n't", " not").replace("cannot", "can not")
    )


def differing_words(
    known: Sequence[str], said: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The telling words that only the one has, and those that only the other has."""
    ours, theirs = Counter(_telling(known)), Counter(_telling(said))
    return list((ours - theirs).elements()), list((theirs - ours).elements())


def rewording(left: Sequence[str], new: Sequence[str]) -> str:
    """Words in the place of others, in one form whichever come first."""
    return "|".join(sorted((" ".join(sorted(left)), " ".join(sorted(new)))))


@cache
def learned_rewordings() -> frozenset[str]:
    """Pairs of phrases."""
    packed = unpacked(PACKED_REWORDINGS)
    groups = (line.split("|") for line in packed.decode().split("\n"))
    return frozenset(
        "|".join(pair) for group in groups for pair in combinations(group, 2)
    )


@cache
def _vocabulary(learned: frozenset[str]) -> frozenset[str]:
    """All words that stand in rewordings: they tell little by themselves."""
    return frozenset(re.split(r"[| \n]", "\n".join(learned)))


def _telling(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in _IDLE_WORDS]


def _has_place(word: str) -> bool:
    """Whether a word is no function word."""
    return word == "user" or tokens(f"{word} x0x") != ["x0x"]


def _in_turn(known: Sequence[str], said: Sequence[str]) -> bool:
    """Whether the words that both have once go round in the same order ("blue is her colour")."""
    ours, theirs = Counter(known), Counter(said)
    once = {
        word
        for word in ours
        if ours[word] == theirs[word] == 1 and _has_place(word)
    }
    first, second = (
        [word for word in words if word in once] for words in (known, said)
    )
    if not first or first[0] not in second:
        return not first
    turned = second.index(first[0])
    return second[turned:] + second[:turned] == first
