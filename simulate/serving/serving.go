// Package serving simulates services that answer requests with a language model: request by request
// (Replay), by closed forms, and by an approximation for long times. It knows replicas, batches, memory
// and routers; it knows no jobs and no prices beyond that of a GPU-hour.
//
// A replica is one copy of a model on some GPUs. It works in iterations, each of which processes a batch.
// Times are integers: microseconds, and picoseconds inside an iteration, so that every machine gives the
// same answer.
package serving

// Time is the time of an iteration, in picoseconds:
//
//	C0 + max over Lin of (Lin[0] + Lin[1]·T) + Seq·S + KV·kv + PA·pa
//
// where T tokens are processed, S sequences are in the batch, kv tokens are attended to by sequences that
// decode, and pa pairs of tokens by pieces of prompts. Lin is a roofline: reading the weights is flat,
// computing slopes (Williams, Waterman and Patterson, "Roofline", CACM 2009). Where Batch is given (see BatchTime),
// it alone says the time.
type Time struct {
	C0  int64      `json:"c0" yaml:"c0"`
	Lin [][2]int64 `json:"lin" yaml:"lin"` // one to three
	Seq int64      `json:"seq" yaml:"seq"`
	KV  int64      `json:"kv" yaml:"kv"`
	PA  int64      `json:"pa" yaml:"pa"`

	Batch [][2]int64 `json:"batch,omitempty" yaml:"-"` // requests in a batch, picoseconds
}

// Picoseconds returns the time of an iteration in picoseconds.
func (t *Time) Picoseconds(tokens, sequences, kv, pa int64) int64 {
	if len(t.Batch) > 0 {
		return t.batch(tokens)
	}
	most := int64(0)
	for i, l := range t.Lin {
		if ps := l[0] + l[1]*tokens; i == 0 || ps > most {
			most = ps
		}
	}
	return t.C0 + most + t.Seq*sequences + t.KV*kv + t.PA*pa
}

// Micros returns the time of an iteration in microseconds, rounded up, at least 1.
func (t *Time) Micros(tokens, sequences, kv, pa int64) int64 {
	return max(1, (t.Picoseconds(tokens, sequences, kv, pa)+999_999)/1_000_000)
}

// Config describes a service for Replay.
type Config struct {
	Policy    string // of batching: a name of Batchings
	Time      Time
	BlockSize int64     // tokens of a block of the KV cache
	Blocks    int64     // of one replica
	Watermark int64     // blocks that admission leaves free
	MaxTokens int64     // of an iteration
	MaxSeqs   int64     // sequences that run at once in a replica
	MaxLen    int64     // longest request, prompt and answer together
	Router    string    // a name of Routers
	Bound     int64     // prefix_aware: most load of a replica, in thousandths of the mean; 0 is UsualBound
	OwnPrefix bool      // each replica has a prefix cache of its own: cached tokens of a prefix only where it was computed
	Replicas  []Replica // at least one
	GPUs      int64     // of a replica
	Price     float64   // US dollars of a GPU-hour
	Cold      int64     // microseconds before a replica is ready for which it is paid
	SLO       SLO
}

// Replica is the life of a replica in microseconds; Drain and Down are -1 where they never come.
type Replica struct{ Ready, Drain, Down int64 }

// SLO is a promise for every request, in microseconds; 0 is none.
type SLO struct {
	TTFT int64 `json:"ttft,omitempty"`
	TPOT int64 `json:"tpot,omitempty"`
	E2E  int64 `json:"e2e,omitempty"`
}

// Request is a request, in order of arrival.
type Request struct {
	Arrival int64 // microseconds
	In, Out int64 // tokens, at least 1 each
	Cached  int64 // tokens of the prompt that a prefix cache supplies
	Prefix  int64 // number of the prefix that requests share, for routers; 0 is none
}

// Status is what became of a request.
type Status uint8

// The statuses.
const (
	OK       Status = iota
	Rejected        // on arrival: too long for the model or the cache
	Waiting         // never served
)

var statusNames = [...]string{"ok", "rejected", "waiting"}

// String returns the status as tables write it.
func (s Status) String() string { return statusNames[s] }

// Served is what a request saw, in microseconds; -1 is never.
type Served struct {
	Request
	Admitted, FirstToken, Finish int64
	Preemptions, Moves           int64
	Replica                      int // the last; -1 is none
	Status                       Status
}
