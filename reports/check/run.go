package check

import (
	"github.com/stalepage/stalepage/engine/config"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/reference"
)

// Run is what the checks must know of a run beside its events; the header of a journal says it.
type Run struct {
	// Cluster is the configuration as started. An address with index i belongs to Cluster.Models[i].
	Cluster config.Cluster
	// Corpus is the text that prompts are made of. Without it no text can be compared.
	Corpus *corpus.Corpus
	// Reference says what a healthy engine answers. Without it no answer can be compared.
	Reference *reference.Reference
	// Missing is the evidence that this target cannot give, the zero value for an engine of ours.
	Missing Evidence
	// Incomplete says why the events end before the run did; empty if they do not.
	Incomplete string
}

// Evidence is a set of the sorts of evidence that only some targets give.
type Evidence uint8

// The sorts of evidence.
const (
	// Landings: write.landed and rows.computed as they happened. Only where our own code moves the bytes.
	Landings Evidence = 1 << iota
	// Draws: token.sampled with the row that won.
	Draws
	// Digests: what sender and receiver sum over the pages they moved.
	Digests
	// Texts: the tokens of answers, in clear.
	Texts
	// Residue: worker.quiesced with what each worker still holds.
	Residue
)

// Has reports whether all of want is in e.
func (e Evidence) Has(want Evidence) bool { return e&want == want }
