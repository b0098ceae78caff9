package harness

import (
	"runtime"
	"sync"

	"github.com/stalepage/stalepage/engine/model"
	"github.com/stalepage/stalepage/engine/model/code"
	"github.com/stalepage/stalepage/fixtures/corpus"
	"github.com/stalepage/stalepage/reports/reference"
)

// Kit is what every run of a process shares: tables, vocabulary, model, reference, and the corpora by seed. All of it is
// read-only once built; a Kit may serve any number of runs at once.
type Kit struct {
	Tables     *code.Tables
	Vocabulary *code.Vocabulary
	Model      *model.Model
	Reference  *reference.Reference

	corpus  *corpus.Corpus // of seed 0
	lock    sync.Mutex
	corpora map[uint64]*corpus.Corpus
}

// corporaMax bounds how many corpora a kit keeps: an exploration asks for one a seed.
const corporaMax = 64

// NewKit builds a kit with the fastest kernels of this machine.
func NewKit() *Kit {
	tables, vocabulary := code.New(), code.NewVocabulary()
	m := model.New(tables)
	// A long scan uses every core that no other run keeps busy; what it finds does not depend on it.
	m.Workers = runtime.GOMAXPROCS(0)
	return &Kit{
		Tables: tables, Vocabulary: vocabulary, corpus: corpus.New(vocabulary, 0), Model: m,
		Reference: reference.New(tables),
		corpora:   map[uint64]*corpus.Corpus{},
	}
}

// Corpus is the text of all tenants under a seed.
func (k *Kit) Corpus(seed uint64) *corpus.Corpus {
	k.lock.Lock()
	defer k.lock.Unlock()
	c := k.corpora[seed]
	if c == nil {
		if len(k.corpora) >= corporaMax {
			clear(k.corpora)
		}
		c = k.corpus.WithSeed(seed)
		k.corpora[seed] = c
	}
	return c
}
