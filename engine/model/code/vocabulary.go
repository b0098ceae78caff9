package code

import "github.com/stalepage/stalepage/engine/wire"

// The tokens with a fixed meaning. The first three have no text.
const (
	// Placeholder is what a refused prompt is replaced by.
	Placeholder wire.Token = 0
	// Begin and End are bos and eos.
	Begin wire.Token = 1
	End   wire.Token = 2
	// BlankLine is "\n\n".
	BlankLine wire.Token = 3
)

// Classes and ClassTokens are the shape of the word classes that the corpus builds its sentences of.
const (
	Classes     = 8
	ClassTokens = 256
)

// Where the parts of the vocabulary lie.
const (
	firstPunctuation = BlankLine + 1
	firstHexPair     = firstPunctuation + wire.Token(len(punctuation))
	markerToken      = firstHexPair + 256
	firstClass       = markerToken + 1
	firstCommon      = firstClass + Classes*ClassTokens
	firstByte        = VocabularySize - 256
)

// markerText opens a canary and is used nowhere else.
const markerText = " Canary"

var punctuation = [...]string{
	"\n", " ", ".", ",", ":", ";", "(", ")", "-", "/", "#", "\"", "'", "=", "{", "}", "[", "]", "?", "!", "$", "%",
	"&", "*", "+", "<", ">", "@", "_", "|", "...", " // ",
}

// Vocabulary maps text to tokens and back. In order of id: three tokens without text, the blank line, punctuation,
// 256 hex pairs, the canary marker, eight word classes, common words and names, and 256 raw bytes, which make it
// lossless on any input. It never changes after NewVocabulary and is safe for concurrent use.
type Vocabulary struct {
	texts   [VocabularySize]string
	classes [Classes][]wire.Token
	pieces  pieces
}

// NewVocabulary builds the vocabulary; every build gives the same.
func NewVocabulary() *Vocabulary {
	v := new(Vocabulary)
	v.pieces.init()
	next := BlankLine
	add := func(text string) bool {
		if next == firstByte || !v.pieces.add(text, next) {
			return false
		}
		v.texts[next] = text
		next++
		return true
	}
	must := func(text string) {
		if !add(text) {
			panic("code: the vocabulary holds " + text + " twice, or is full")
		}
	}
	must("\n\n")
	for _, text := range punctuation {
		must(text)
	}
	const digits = "0123456789abcdef"
	for b := range 256 {
		must(string([]byte{digits[b>>4], digits[b&15]}))
	}
	must(markerText)
	for class, words := range classWords() {
		for _, text := range words {
			v.classes[class] = append(v.classes[class], next)
			must(text)
		}
	}
	addCommonWords(add)
	for b := range 256 {
		v.texts[firstByte+b] = string([]byte{byte(b)})
	}
	return v
}

// HexPair is the token that spells b as two lower-case hex digits.
func (v *Vocabulary) HexPair(b byte) wire.Token { return firstHexPair + wire.Token(b) }

// HexValue inverts HexPair.
func (v *Vocabulary) HexValue(token wire.Token) (byte, bool) {
	return byte(token - firstHexPair), token >= firstHexPair && token < firstHexPair+256
}

// Marker is the token that opens a canary: " Canary", a word that stands for nothing else.
func (v *Vocabulary) Marker() wire.Token { return markerToken }

// Class is word class i, 0 to 7: 256 tokens in a fixed order, disjoint from every other class. One word of each class
// in turn reads like a sentence: a name, a verb, an adjective, a noun, an adverb, a participle, a place, a noun. The
// slice belongs to the vocabulary and must not be written.
func (v *Vocabulary) Class(i int) []wire.Token { return v.classes[i] }

// ClassIndex inverts Class: token is Class(class)[index], or ok is false.
func (v *Vocabulary) ClassIndex(token wire.Token) (class, index int, ok bool) {
	if token < firstClass || token >= firstCommon {
		return 0, 0, false
	}
	return int(token-firstClass) / ClassTokens, int(token-firstClass) % ClassTokens, true
}

// Text is the token's text: empty for the first three and for an id outside the vocabulary.
func (v *Vocabulary) Text(token wire.Token) string {
	if int(token) >= VocabularySize {
		return ""
	}
	return v.texts[token]
}

// Encode splits text greedily into the longest tokens that fit. Decode(Encode(text)) is text, for any bytes.
// It takes about 25 million tokens a second of one busy core on prose, Decode several times that (BenchmarkVocabulary).
func (v *Vocabulary) Encode(text string) []wire.Token {
	return v.AppendEncode(make([]wire.Token, 0, len(text)/4+8), text)
}

// AppendEncode appends Encode(text) to tokens.
func (v *Vocabulary) AppendEncode(tokens []wire.Token, text string) []wire.Token {
	for len(text) > 0 {
		token, length := v.pieces.word(text)
		if token == noToken {
			token, length = v.pieces.longest(text)
		}
		tokens = append(tokens, token)
		text = text[length:]
	}
	return tokens
}

// Decode is the tokens' text, one after the other.
func (v *Vocabulary) Decode(tokens []wire.Token) string {
	return string(v.AppendDecode(make([]byte, 0, 8*len(tokens)), tokens))
}

// AppendDecode appends Decode(tokens) to text.
func (v *Vocabulary) AppendDecode(text []byte, tokens []wire.Token) []byte {
	for _, token := range tokens {
		text = append(text, v.Text(token)...)
	}
	return text
}
