package code_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/engine/wire"
)

// Any bytes survive: text, control characters, broken UTF-8, and every pair of bytes.
func TestEncodeIsLossless(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(1, 2))
	samples := []string{
		"", "Dear doctor,\n\nthe invoice is overdue.", "\x00\xff\xfe", "naïve — 日本語", " ", "  \n\n\n\n", "canary Canary",
	}
	for range 2000 {
		raw := make([]byte, random.IntN(40))
		for i := range raw {
			raw[i] = byte(random.IntN(256))
		}
		samples = append(samples, string(raw))
		var text strings.Builder
		for range random.IntN(20) {
			text.WriteString(v.Text(wire.Token(random.IntN(code.VocabularySize))))
		}
		samples = append(samples, text.String())
	}
	for pair := range 1 << 16 {
		samples = append(samples, string([]byte{byte(pair >> 8), byte(pair)}))
	}
	for _, text := range samples {
		if back := v.Decode(v.Encode(text)); back != text {
			g.Expect(back).To(Equal(text))
		}
	}
}

func FuzzEncodeIsLossless(f *testing.F) {
	v := code.NewVocabulary()
	f.Add("Dear doctor, Canary3fa0 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		if back := v.Decode(v.Encode(text)); back != text {
			t.Fatalf("%q came back as %q", text, back)
		}
	})
}

// Encode takes the longest token at each place: what a slow search over all tokens finds.
func TestEncodeIsGreedy(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var text strings.Builder
		for range 12 {
			text.WriteString(v.Text(wire.Token(random.IntN(code.VocabularySize))))
		}
		rest := text.String()
		for _, token := range v.Encode(rest) {
			longest := ""
			for other := range wire.Token(code.VocabularySize) {
				if s := v.Text(other); len(s) > len(longest) && strings.HasPrefix(rest, s) {
					longest = s
				}
			}
			g.Expect(v.Text(token)).To(Equal(longest))
			rest = rest[len(longest):]
		}
		g.Expect(rest).To(BeEmpty())
	}
}

// The vocabulary's parts: empty texts, distinct texts, and raw bytes as the last 256 ids.
func TestPartsOfTheVocabulary(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	g.Expect(v.Decode([]wire.Token{code.Placeholder, code.Begin, code.End, 9999})).To(BeEmpty())
	g.Expect(v.Text(code.BlankLine)).To(Equal("\n\n"))
	seen := map[string]wire.Token{}
	for token := code.BlankLine; token < code.VocabularySize-256; token++ {
		text := v.Text(token)
		if _, twice := seen[text]; twice || text == "" {
			t.Fatalf("token %d: %q is empty or stands there twice", token, text)
		}
		seen[text] = token
		if back := v.Encode(text); len(back) != 1 || back[0] != token {
			g.Expect(back).To(Equal([]wire.Token{token}), "%q encodes as itself", text)
		}
	}
	for b := range 256 {
		g.Expect(v.Text(wire.Token(code.VocabularySize - 256 + b))).To(Equal(string([]byte{byte(b)})))
	}
}

// What the corpus builds on: eight disjoint ordered classes of 256 words, hex pairs and a marker of their own.
func TestClassesHexPairsAndMarker(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	owner := map[wire.Token]string{v.Marker(): "marker"}
	for b := range 256 {
		token := v.HexPair(byte(b))
		g.Expect(owner[token]).To(BeEmpty())
		owner[token] = "hex"
		value, ok := v.HexValue(token)
		g.Expect(ok).To(BeTrue())
		g.Expect(value).To(Equal(byte(b)))
	}
	_, ok := v.HexValue(v.HexPair(0) - 1)
	g.Expect(ok).To(BeFalse())
	_, ok = v.HexValue(v.Marker())
	g.Expect(ok).To(BeFalse())
	for i := range code.Classes {
		g.Expect(v.Class(i)).To(HaveLen(code.ClassTokens))
		for n, token := range v.Class(i) {
			if owner[token] != "" {
				t.Fatalf("token %d is of a %s and of class %d", token, owner[token], i)
			}
			owner[token] = "class"
			class, index, ok := v.ClassIndex(token)
			g.Expect(ok).To(BeTrue())
			g.Expect([]int{class, index}).To(Equal([]int{i, n}))
			g.Expect(v.Text(token)).To(MatchRegexp(`^ [A-Za-z][a-z]+$`))
		}
	}
	_, _, ok = v.ClassIndex(v.Marker())
	g.Expect(ok).To(BeFalse())
	_, _, ok = v.ClassIndex(v.Class(7)[255] + 1)
	g.Expect(ok).To(BeFalse())
	for token := range wire.Token(code.VocabularySize) {
		if token != v.Marker() {
			g.Expect(v.Text(token)).NotTo(ContainSubstring("anary"), "token %d", token)
		}
	}
}

// Text made of class words, canaries and punctuation comes back as the same tokens, so that a prompt may travel as
// text and still be the fixture's.
func TestSentencesWithCanariesRoundTrip(t *testing.T) {
	g := NewWithT(t)
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(5, 6))
	stop, comma := v.Encode(".")[0], v.Encode(",")[0]
	for range 200 {
		var tokens []wire.Token
		for range 1 + random.IntN(6) {
			for i := range code.Classes {
				tokens = append(tokens, v.Class(i)[random.IntN(code.ClassTokens)])
			}
			switch random.IntN(4) {
			case 0:
				tokens = append(tokens, stop)
			case 1:
				tokens = append(tokens, comma)
			case 2:
				tokens = append(tokens, code.BlankLine)
			}
			tokens = append(tokens, v.Marker())
			for range 7 {
				tokens = append(tokens, v.HexPair(byte(random.IntN(256))))
			}
		}
		g.Expect(v.Encode(v.Decode(tokens))).To(Equal(tokens))
	}
	sentence := ""
	for i := range code.Classes {
		sentence += v.Text(v.Class(i)[17*i+3])
	}
	t.Log(sentence)
}

func BenchmarkNewVocabulary(b *testing.B) {
	for b.Loop() {
		code.NewVocabulary()
	}
}

// Encode and Decode, in million tokens a second, over sentences with canaries.
func BenchmarkVocabulary(b *testing.B) {
	v := code.NewVocabulary()
	random := rand.New(rand.NewPCG(7, 8))
	var tokens []wire.Token
	for range 2000 {
		for i := range code.Classes {
			tokens = append(tokens, v.Class(i)[random.IntN(code.ClassTokens)])
		}
		tokens = append(tokens, v.Marker(), v.HexPair(1), v.HexPair(byte(random.IntN(256))))
	}
	text := v.Decode(tokens)
	b.Run("encode", func(b *testing.B) {
		buffer := make([]wire.Token, 0, len(tokens))
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			buffer = v.AppendEncode(buffer[:0], text)
		}
		b.ReportMetric(float64(len(tokens))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
	})
	b.Run("decode", func(b *testing.B) {
		buffer := make([]byte, 0, len(text))
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			buffer = v.AppendDecode(buffer[:0], tokens)
		}
		b.ReportMetric(float64(len(tokens))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
	})
}
