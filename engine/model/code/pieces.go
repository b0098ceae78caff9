package code

import (
	"unicode/utf8"

	"github.com/stalepage/stalepage/engine/wire"
)

// pieces finds the longest token that a text begins with. A trie of all texts can tell for any text; but most of a
// text is words, and for a whole word one look into a hash table is quicker and touches less memory.
type pieces struct {
	// children is one row a node, node 0 the root and no node's child. Texts of the trie are ASCII; every other byte
	// is spelt by its raw-byte token alone.
	children [][utf8.RuneSelf]uint16
	// token is the token that ends at a node, or noToken.
	token []wire.Token
	// words is the hash table of the texts that word recognises, filled to at most a half.
	words [1 << wordBits]wordEntry
}

type wordEntry struct {
	text  string
	token wire.Token
}

const (
	noToken = wire.Token(VocabularySize)
	// trieNodes is room for the nodes that the vocabulary needs: growing by copies would cost more than building.
	trieNodes = 16_000
	wordBits  = 13
)

func (p *pieces) init() {
	p.children = make([][utf8.RuneSelf]uint16, 0, trieNodes)
	p.token = make([]wire.Token, 0, trieNodes)
	p.grow() // the root
}

func (p *pieces) grow() uint16 {
	p.children = append(p.children, [utf8.RuneSelf]uint16{})
	p.token = append(p.token, noToken)
	return uint16(len(p.token) - 1)
}

// add enters text, which must be ASCII and not empty; false if it is there already.
func (p *pieces) add(text string, token wire.Token) bool {
	node := uint16(0)
	for i := range len(text) {
		child := p.children[node][text[i]]
		if child == 0 {
			child = p.grow()
			p.children[node][text[i]] = child
		}
		node = child
	}
	if p.token[node] != noToken {
		return false
	}
	p.token[node] = token
	if length, hash := wordOf(text); length == len(text) {
		at := hash >> (64 - wordBits)
		for p.words[at].text != "" {
			at = (at + 1) % (1 << wordBits)
		}
		p.words[at] = wordEntry{text, token}
	}
	return true
}

// word finds the token of the whole word that text begins with, or noToken. No token is longer than a whole word that
// is one: tokens with other characters in them do not begin with a letter, or a space and a letter, save hex pairs, and
// those are no longer than a word of one lower-case letter, which is no token.
func (p *pieces) word(text string) (wire.Token, int) {
	length, hash := wordOf(text)
	if length == 0 {
		return noToken, 0
	}
	for at := hash >> (64 - wordBits); p.words[at].text != ""; at = (at + 1) % (1 << wordBits) {
		if p.words[at].text == text[:length] {
			return p.words[at].token, length
		}
	}
	return noToken, 0
}

// wordOf measures the word that text begins with, a space or none and then letters, and hashes it. A length of 0 is
// no word.
func wordOf(text string) (length int, hash uint64) {
	if text[0] == ' ' {
		length, hash = 1, 1
	}
	first := length
	for ; length < len(text) && text[length]|0x20-'a' < 26; length++ {
		hash = (hash ^ uint64(text[length])) * 0x9e3779b97f4a7c15
	}
	if length == first {
		return 0, 0
	}
	return length, hash
}

// longest finds the longest token that text begins with, and its length in bytes.
func (p *pieces) longest(text string) (wire.Token, int) {
	found, length := firstByte+wire.Token(text[0]), 1
	node := uint16(0)
	for i := 0; i < len(text) && text[i] < utf8.RuneSelf; i++ {
		node = p.children[node][text[i]]
		if node == 0 {
			break
		}
		if p.token[node] != noToken {
			found, length = p.token[node], i+1
		}
	}
	return found, length
}
