package code

import "strings"

// wordClass describes one word class: words of the language first, then invented ones until there are 256.
type wordClass struct {
	words string
	// endings are given to invented stems, in turn.
	endings []string
	capital bool
}

// classOf holds the eight classes in the order of a sentence, such as
// " Marelo approved overdue invoice promptly notifying Tavonham registrar".
var classOf = [Classes]wordClass{
	{endings: []string{"o", "a", "en", "is"}, capital: true},
	{words: verbs, endings: []string{"ed"}},
	{words: adjectives, endings: []string{"al", "ic", "ous"}},
	{words: nouns, endings: []string{"ment", "ine", "ette"}},
	{words: adverbs, endings: []string{"ly"}},
	{words: participles, endings: []string{"ing"}},
	{endings: []string{"ham", "ford", "feld", "wick"}, capital: true},
	{words: people, endings: []string{"er", "ist", "or"}},
}

// classWords lists the texts of the eight classes, 256 each, each with the space before it.
func classWords() (classes [Classes][]string) {
	taken := map[string]bool{}
	draw := draws{purpose: purposeWords}
	for i, class := range classOf {
		for word := range strings.FieldsSeq(class.words) {
			classes[i] = append(classes[i], " "+word)
			taken[word] = true
		}
		for len(classes[i]) < ClassTokens {
			word := invent(&draw, class.endings[len(classes[i])%len(class.endings)], class.capital)
			if !taken[word] {
				taken[word] = true
				classes[i] = append(classes[i], " "+word)
			}
		}
	}
	return classes
}

// addCommonWords fills the rest of the vocabulary: common words in three forms, then invented names.
func addCommonWords(add func(text string) bool) {
	for _, word := range strings.Fields(common + " " + nouns) {
		add(" " + word)
		add(" " + capitalise(word))
		add(capitalise(word))
	}
	draw := draws{purpose: purposeWords, ordinal: 1 << 32}
	for left := VocabularySize; left > 0; left-- {
		add(" " + invent(&draw, "", true))
	}
}

// invent makes a word of two or three drawn syllables and an ending.
func invent(draw *draws, ending string, capital bool) string {
	var word strings.Builder
	for range 2 + draw.below(2) {
		word.WriteByte(consonants[draw.below(len(consonants))])
		word.WriteByte(vowels[draw.below(len(vowels))])
	}
	word.WriteByte(codas[draw.below(len(codas))])
	word.WriteString(ending)
	if capital {
		return capitalise(word.String())
	}
	return word.String()
}

func capitalise(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

const (
	consonants = "bdfghjklmnprstvwz"
	vowels     = "aeiou"
	codas      = "lmnrstvd"
)

const verbs = `accepted acknowledged added adjusted admitted amended analysed answered appended applied appointed
approved archived arranged assigned audited authorised balanced billed booked cached called cancelled certified
charged checked cited claimed cleared closed collected committed compared compiled completed computed confirmed
connected consulted copied corrected counted created credited debited declared declined decoded deferred delayed
deleted delivered deployed described diagnosed disabled discharged disclosed discussed dispatched drafted dropped
encoded ended enrolled entered escalated estimated examined exported extended filed finished fixed forwarded found
granted handled imported indexed informed initialised inspected installed invoiced issued joined labelled listed
loaded logged mailed marked matched measured merged migrated modified monitored moved named noted observed obtained
opened ordered paid parsed patched paused planned posted prepared prescribed presented printed processed promised
proposed published purchased questioned queued quoted rated received recorded recovered reduced referred refunded
refused registered rejected released renamed renewed repaired repeated replaced reported requested reserved resolved
restored returned reversed reviewed revised scanned scheduled sealed selected sent settled shipped signed sorted
stamped started stopped stored submitted supplied suspended tested tracked transferred treated typed updated uploaded
validated verified visited weighed withdrew wrote`

const adjectives = `abnormal absent accurate active acute additional adverse ambiguous annual anonymous atomic automatic
available basic billable binary bilateral blank brief broken careful central certain chronic clean clinical common
compact complete concurrent confidential constant correct critical cumulative current daily damaged dated deep default
dense detailed digital direct distinct domestic double due duplicate dynamic early elective electronic elevated empty
encrypted enlarged equal exact excess exempt expired explicit external faint fatal faulty final financial fiscal flat
foreign formal former fractured fragile frequent fresh full general generic global gross healthy heavy hidden hourly
idle illegible immediate implicit inbound incomplete inflamed initial internal invalid irregular joint large late
lateral lawful legal light linear liquid local logical lost manual marginal maximal medical mild minimal minor missing
mobile moderate modular monthly mutable mutual narrow nested net nightly nominal normal numeric obsolete odd official
open optional oral original outbound outstanding overdue overnight painful parallel partial payable pending periodic
permanent persistent plain portable postal preliminary primary prior private prompt proper provisional public
quarterly quiet random rapid raw recent recurrent redundant regional regular related reliable remote residual routine
rural safe scarce secondary secure separate serial severe shallow shared sharp silent single sparse spare stable stale
standard static steady sterile strict subtle sudden swollen tax taxable temporary tender terminal thin thorough tidy
tight total toxic transient unpaid unsigned urban urgent valid vague virtual visible weekly wide wired yearly`

const nouns = `account address agenda agreement allergy ambulance amount analysis annex answer antibody appendix archive
array article asset assay attachment audit backup badge balance bandage banknote batch benefit bill binder biopsy block
body bond bonus branch brochure browser budget buffer bulletin bundle cable cache calendar capsule card cargo catheter
cell certificate channel chart checklist claim clause client cluster code column comment compiler complaint container
contract copy counter coupon cursor customer cylinder dashboard database deadline debt deed delivery deposit desk device
diagram diet directory discount disk document domain dosage dose draft drawer dressing driver email engine envelope
error estimate event exception expense export factor fee field file filter finding firewall flag folder form formula
freight function fund gateway graph guarantee handle header heap histogram history hook house image implant income
index infusion inhaler insurance interest interface inventory invoice item journal kernel kidney label laboratory lease
ledger lens letter liability library licence limit lien link list loan lock log loop lung mailbox manifest
margin matrix medication meeting memo memory message meter minute module monitor mortgage needle node note notice number
object offer operation order outcome outlet output package page pallet panel parcel parser password patch payment
payroll pension permit pipeline plan plaster platform pointer policy pool portal premium prescription printer process
profile program project proof protocol pulse query queue quota rash ratio reading rebate receipt record refund register
registry remedy reminder rent reply report request reserve response result retainer revenue risk room roster route
row royalty rule salary sample scan schedule schema scope scratch script sensor server session shipment`

const adverbs = `abruptly accordingly accurately actively adequately again already always annually anonymously apart
arguably automatically barely bilaterally briefly broadly calmly carefully centrally certainly chronically cleanly
clearly clinically closely commonly completely concurrently correctly deeply deliberately directly discreetly
duly eagerly easily effectively efficiently electronically entirely equally evenly eventually exactly explicitly
externally fairly faithfully finally firmly formally forthwith frequently freshly fully generally gently gradually
hastily hence honestly ideally idly immediately implicitly increasingly independently indirectly initially instantly
internally jointly keenly largely lately lawfully legally lightly likewise locally loosely mainly manually marginally
meanwhile merely mildly moderately mutually narrowly naturally nearly neatly newly normally notably
nowadays numerically occasionally officially often openly optionally orally originally partially partly patiently
perfectly periodically permanently personally plainly politely poorly possibly precisely presently previously
primarily privately probably promptly properly provisionally publicly punctually quickly quietly randomly rapidly
rarely readily really reasonably recently regularly reliably reluctantly remotely repeatedly reportedly roughly
routinely sadly safely secretly securely seldom separately seriously severely sharply shortly silently similarly simply
slightly slowly smoothly softly solely sometimes soon specially specifically steadily strictly strongly subsequently
successfully suddenly sufficiently surely swiftly temporarily tentatively thereby therefore thoroughly thus tightly
together twice typically ultimately unduly unexpectedly uniformly urgently usually vaguely verbally verily virtually
visibly voluntarily warily widely willingly wisely`

const participles = `addressing advancing advising affecting alerting allowing altering announcing approaching assisting
attaching auditing avoiding backing balancing barring billing blocking booking briefing building calling carrying
causing changing charging charting checking citing clearing closing coding collecting comparing compiling completing
concerning confirming connecting consulting containing copying counting covering crossing debugging deferring defining
delaying delivering describing detailing drafting draining driving easing editing emailing enabling ending enforcing
engaging entering equipping escorting excluding exporting extending facing favouring fetching filing filling financing
flagging flushing following forwarding freeing funding granting greeting guarding guiding halting helping holding
hosting importing including indexing informing inspecting insuring involving issuing joining keeping labelling leaving
lending listing loading locking logging mailing mapping marking matching measuring mentioning merging
monitoring moving naming noting notifying observing offering opening ordering owning packing passing patching paying
pausing phoning placing planning polling posting preparing printing probing proposing protecting publishing pulling
pushing quoting raising ranking reaching rebuilding recalling receiving recording reducing referring refusing
releasing reminding removing renaming renewing replacing replying requesting resetting resolving restarting reviewing
routing sampling saving scanning sealing seeking selecting sending serving settling shipping signing sorting spanning
sponsoring staffing stamping starting stating stocking stopping storing studying supplying supporting syncing tagging
taking testing throttling timing tracing tracking training treating trimming trusting updating uploading using
validating verifying viewing visiting warning watching weighing wiring withholding writing`

const people = `accountant adjuster administrator adviser agency agent allocator analyst anaesthetist apprentice
arbitrator architect archivist assessor assistant attorney auditor bailiff banker barrister beneficiary board bookkeeper
broker bureau buyer caller campus cardiologist caretaker carrier cashier chairman chemist clerk clinic clinician
coder committee compositor conductor conservator consultant contractor controller coordinator coroner council
counsellor courier court creditor custodian daemon debtor delegate dentist department deputy designer developer
director dispatcher distributor division doctor donor economist editor electrician employee employer engineer
enquirer estate examiner executor exporter facility factory faculty farmer forwarder foundation founder garage
guarantor guardian gynaecologist headquarters helpdesk holder hospital hospice importer inspector institute instructor
insurer intern interpreter investor janitor judge junior jury landlord lawyer lecturer lender lessee lessor librarian
loader locum magistrate maintainer manager manufacturer marketer mechanic mediator member merchant messenger midwife
ministry moderator neurologist notary nurse nursery office officer operator optician orderly orthodontist outpatient
owner paediatrician paramedic partner pathologist patient payee payer pharmacist pharmacy physician pilot planner
plumber porter postmaster practice principal producer professor programmer psychologist publisher purchaser
radiologist receptionist recipient recruiter referee registrar reporter researcher resident retailer reviewer scheduler
scientist secretary seller senator shareholder sheriff shipper solicitor specialist sponsor steward student
subcontractor subscriber subsidiary supervisor supplier surgeon surgery surveyor syndicate teacher team technician
teller tenant therapist trader trainee translator treasurer tribunal trustee tutor underwriter undersecretary union
university user vendor veterinarian visitor volunteer warden warehouse watchman welder wholesaler witness worker
workshop`

const common = `the of and to in a is was for on that with as by at from his her it be this which are were has had not
been will may shall please regarding dear sincerely if err nil range int string struct type var const import switch case
break continue map slice append len func return before after during between under over into through about against among
within without because although however moreover later earlier yesterday tomorrow monday tuesday wednesday thursday
friday january february march april june july august september october november december first second third fourth last
next new old small long short good bad better best more most less least many few several each every both all none some
any other another such same own very too also only just even still yet once here there where when while until since
we you they he she who what why how can could would should must do does did have one two three four five six seven eight
nine ten hundred thousand million date time day week month year name city street price line quantity unit tax cash
value`
