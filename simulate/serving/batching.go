package serving

import "capcli"

// Batching says which sequences of a replica are in the next batch. To add one, write a file whose init
// adds it to Batchings; its Form is made of Step, Resume, Admit and AdmitWhole.
//
// Sequences that decode all advance by one token or none does. What a Batching refuses to admit beside a
// batch of decoding sequences alone, it refuses until a sequence ends, is preempted or arrives: the replay
// does not ask before.
type Batching interface {
	// Form puts sequences into the batch. The batch may not stay empty where somebody is here.
	Form(s *server)
	// Check says what is wrong with a configuration; nil is nothing.
	Check(c *Config) error
}

// Batchings holds the batchings by name.
var Batchings = capcli.Catalog[Batching]{Kind: "batching"}

// decodeAll puts all decoding sequences into the batch, one token each. Where blocks are short it preempts
// the last running sequence until they suffice. It reports whether it preempted any.
//
// That is the order of the schedulers that take sequences one by one and preempt the last when one finds
// no block: they end with the fewest victims from the end such that those who are left, and want a block,
// find one.
func (s *server) decodeAll() (preempted bool) {
	for s.bound[s.phase] > s.free {
		s.preemptLast()
		preempted = true
	}
	s.free -= s.bound[s.phase]
	s.stepped = s.decode > 0
	return preempted
}

// resume puts the next piece, of at most budget tokens, of the incomplete prompt into the batch. It
// preempts the sequence itself where blocks are short.
func (s *server) resume(budget int64) (tokens int64, preempted bool) {
	id := s.prompt
	if id < 0 || budget <= 0 {
		return 0, false
	}
	k := (*s.sequences)[id].cached
	n := min(s.knownTokens(id)-k, budget)
	b := s.blocks(k+n) - s.blocks(k)
	if b > s.free {
		s.preemptLast()
		return 0, true
	}
	s.free -= b
	s.pieces = append(s.pieces, piece{id, n})
	return n, false
}

// admit admits from the front of the queue while budget, sequences and blocks allow it, and puts their
// prompts into the batch. The last prompt may be cut to the budget unless whole is set.
func (s *server) admit(budget int64, whole bool) {
	c := s.config
	for s.waiting > 0 && budget > 0 && s.running < c.MaxSeqs {
		id := s.wait.first
		w := &(*s.served)[id]
		cached := s.cachedTokens(id)
		left := s.knownTokens(id) - cached
		n := min(left, budget)
		b := s.blocks(cached + n)
		if whole && left > budget || s.free-b < c.Watermark {
			break
		}
		s.start()
		(*s.sequences)[id].cached = cached
		s.free -= b
		s.pieces = append(s.pieces, piece{id, n})
		if w.Admitted < 0 {
			w.Admitted, w.Cached = s.pending, cached
		}
		budget -= n
	}
	s.refused = true
}
