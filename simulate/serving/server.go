package serving

import "math"

// never is the time of what does not happen.
const never = math.MaxInt64

// sequence is the state of a request that waits or runs on a replica.
type sequence struct {
	made       int64 // tokens of the answer; while it decodes, those when decoding began
	cached     int64 // tokens whose KV is in the cache; while it decodes, less the steps of its server
	last       int64 // while it decodes: the step at whose end it is finished
	hint       int64 // tokens of the prompt that a prefix cache may supply
	next, prev int32 // neighbours in the queue or among the running; -1 is none
	decodes    bool
}

// piece is a part of a prompt in the batch in flight.
type piece struct {
	id int32
	n  int64
}

// server is a replica at work. Every sequence that decodes advances by one token in each step, so their
// state is kept as sums and as differences to the number of steps: a step costs the same for any number of
// sequences.
type server struct {
	config    *Config
	batching  Batching
	sequences *[]sequence
	served    *[]Served

	free   int64 // blocks that nobody holds
	steps  int64 // in which those that decode advanced by one token
	phase  int64 // steps modulo the block size
	decode int64 // sequences that decode
	kv     int64 // tokens of theirs in the cache
	bound  []int64
	ends   []ending // of those that decode; a heap by step, then by order of start
	starts int64

	wait, run chain
	waiting   int64
	running   int64
	prompt    int32 // the running sequence whose prompt is not complete, which is the last; -1 is none

	pieces  []piece // of the batch in flight
	stepped bool    // the batch has all that decode
	refused bool    // nobody is admitted until a sequence ends, is preempted or arrives
	busy    bool
	end     int64 // of the iteration in flight
	ps      int64 // its picoseconds
	pending int64 // when the next batch is to be formed; never where nobody is here

	prefixes map[int64]struct{} // whose tokens are in the cache; nil where the cache is that of all replicas

	isReady, isDrained, isDown bool

	use  Use
	done func(id int32, t int64) // called at each finish; may be nil
}

// ending is the step at whose end a sequence is finished. It is void once the sequence was preempted.
type ending struct {
	step, start int64
	id          int32
}

func (s *server) reset(c *Config) {
	s.free, s.steps, s.phase, s.decode, s.kv, s.starts = c.Blocks, 0, 0, 0, 0, 0
	if s.bound == nil {
		s.bound = make([]int64, c.BlockSize)
	}
	clear(s.bound)
	s.ends, s.pieces = s.ends[:0], s.pieces[:0]
	s.wait.first, s.wait.last, s.run.first, s.run.last = -1, -1, -1, -1
	s.waiting, s.running, s.prompt = 0, 0, -1
	s.busy, s.stepped, s.refused, s.pending = false, false, false, never
	if c.OwnPrefix {
		s.prefixes = map[int64]struct{}{}
	}
}

// advance plays all iterations that end at limit or before, and forms all batches before limit.
func (s *server) advance(limit int64) {
	for {
		if !s.busy {
			if s.pending >= limit {
				return
			}
			s.form()
		}
		if s.end > limit {
			return
		}
		if s.coasts() {
			s.coast(limit)
		}
		if s.end > limit {
			return
		}
		s.complete()
	}
}

// form forms a batch at s.pending and starts its iteration.
func (s *server) form() {
	s.stepped, s.refused = false, false
	s.batching.Form(s)
	tokens, sequences, kv, pa := int64(0), int64(len(s.pieces)), int64(0), int64(0)
	decoding := int64(0)
	if s.stepped {
		tokens, sequences, kv = s.decode, sequences+s.decode, s.kv+s.decode
	}
	if s.stepped && len(s.pieces) > 0 {
		decoding = micros(s.config.Time.Picoseconds(tokens, s.decode, kv, 0))
	}
	for _, p := range s.pieces {
		tokens += p.n
		pa += p.n * (2*(*s.sequences)[p.id].cached + p.n + 1) / 2
	}
	s.use.Peak = max(s.use.Peak, s.config.Blocks-s.free)
	s.ps = s.config.Time.Picoseconds(tokens, sequences, kv, pa)
	took := micros(s.ps)
	if len(s.pieces) > 0 {
		s.use.Prompts += took - decoding
	}
	s.end = s.pending + took
	s.use.Iterations++
	s.use.Busy += took
	s.busy, s.pending = true, never
}

// coasts reports whether the batch in flight would be formed again as it is.
func (s *server) coasts() bool {
	return s.stepped && len(s.pieces) == 0 && (s.waiting == 0 || s.refused)
}

// coast plays iterations that differ in their time alone: those in which only decoding sequences advance,
// none ends and blocks suffice. The last one is left in flight.
func (s *server) coast(limit int64) {
	last, size, more := never-int64(1), s.config.BlockSize, s.config.Time.KV*s.decode
	if len(s.ends) > 0 {
		last = s.ends[0].step
	}
	bound, phase, free, end, ps, steps := s.bound, s.phase, s.free, s.end, s.ps, s.steps
	for end < limit && steps+1 < last {
		next := phase + 1
		if next == size {
			next = 0
		}
		if bound[next] > free {
			break
		}
		phase = next
		free -= bound[phase]
		ps += more
		end += micros(ps)
		steps++
	}
	n := steps - s.steps
	s.kv += n * s.decode
	s.use.Iterations += n
	s.use.Busy += end - s.end
	s.use.Peak = max(s.use.Peak, s.config.Blocks-free)
	s.phase, s.free, s.end, s.ps, s.steps = phase, free, end, ps, steps
}

// complete ends the iteration in flight.
func (s *server) complete() {
	t := s.end
	s.busy = false
	if s.stepped {
		s.step(t)
	}
	s.prompt = -1
	for _, p := range s.pieces {
		q := &(*s.sequences)[p.id]
		q.cached += p.n
		w := &(*s.served)[p.id]
		if q.cached < w.In+q.made {
			s.prompt = p.id
			continue
		}
		q.made++
		if s.prefixes != nil && w.Prefix != 0 {
			s.prefixes[w.Prefix] = struct{}{}
		}
		if w.FirstToken < 0 {
			w.FirstToken = t
		}
		if q.made == w.Out {
			s.finish(p.id, q.cached, t)
			continue
		}
		s.startDecoding(p.id)
	}
	s.pieces = s.pieces[:0]
	s.pending = t
	if s.running+s.waiting == 0 {
		s.pending = never
	}
}

// step gives each decoding sequence its token and finishes those that have their last.
func (s *server) step(t int64) {
	s.steps++
	if s.phase++; s.phase == s.config.BlockSize {
		s.phase = 0
	}
	s.kv += s.decode
	for len(s.ends) > 0 && s.ends[0].step <= s.steps {
		e := s.popEnding()
		q := &(*s.sequences)[e.id]
		if !q.decodes || q.last != e.step {
			continue // preempted since
		}
		k := q.cached + s.steps
		s.stopDecoding(q)
		s.finish(e.id, k, t)
	}
}

// finish takes a sequence that holds the blocks of k tokens off the replica, with its answer complete.
func (s *server) finish(id int32, k, t int64) {
	s.free += s.blocks(k)
	s.unlink(id)
	w := &(*s.served)[id]
	w.Finish, w.Status = t, OK
	s.use.LastFinish = t
	s.use.Requests++
	if s.done != nil {
		s.done(id, t)
	}
}

// startDecoding counts a sequence with a complete prompt among those that decode.
func (s *server) startDecoding(id int32) {
	q := &(*s.sequences)[id]
	s.decode++
	s.kv += q.cached
	q.cached -= s.steps
	q.last = s.steps + (*s.served)[id].Out - q.made
	q.decodes = true
	s.bound[s.phaseOf(q)]++
	s.starts++
	s.pushEnding(ending{q.last, s.starts, id})
}

// stopDecoding takes a sequence off those that decode, before anything else of it changes.
func (s *server) stopDecoding(q *sequence) {
	s.decode--
	s.bound[s.phaseOf(q)]--
	q.cached += s.steps
	s.kv -= q.cached
	q.decodes = false
}

// phaseOf returns the phase of the steps for which q wants another block: those that begin with its last
// block full.
func (s *server) phaseOf(q *sequence) int64 {
	if p := -q.cached % s.config.BlockSize; p < 0 {
		return p + s.config.BlockSize
	} else {
		return p
	}
}

// blocks returns the blocks that k tokens hold.
func (s *server) blocks(k int64) int64 { return (k + s.config.BlockSize - 1) / s.config.BlockSize }

// knownTokens returns the tokens of a request that is not decoding: its prompt and what it has made.
func (s *server) knownTokens(id int32) int64 { return (*s.served)[id].In + (*s.sequences)[id].made }

// cachedTokens returns the tokens of the prompt that the prefix cache of the replica supplies.
func (s *server) cachedTokens(id int32) int64 {
	hint := (*s.sequences)[id].hint
	if s.prefixes != nil && hint > 0 {
		if p := (*s.served)[id].Prefix; p != 0 {
			if _, ok := s.prefixes[p]; !ok {
				return 0
			}
		}
	}
	return hint
}

// preemptLast takes the last running sequence off the replica's memory and puts it at the front of the
// queue, to be recomputed.
func (s *server) preemptLast() {
	id := s.run.last
	q := &(*s.sequences)[id]
	s.stop(id)
	if s.prompt == id {
		s.prompt = -1
	}
	s.free += s.blocks(q.cached)
	s.unlink(id)
	q.cached = 0
	q.prev, q.next = -1, s.wait.first
	if s.wait.first >= 0 {
		(*s.sequences)[s.wait.first].prev = id
	} else {
		s.wait.last = id
	}
	s.wait.first = id
	s.waiting++
	(*s.served)[id].Preemptions++
	s.use.Preemptions++
}

// stop has a sequence decode no longer and notes how many tokens it has made.
func (s *server) stop(id int32) {
	q := &(*s.sequences)[id]
	if q.decodes {
		q.made = (*s.served)[id].Out - (q.last - s.steps)
		s.stopDecoding(q)
	}
}

// chain is a list of sequences, linked by their prev and next; -1 is none.
type chain struct{ first, last int32 }

// push puts a sequence at the end of the chain.
func (c *chain) push(all []sequence, id int32) {
	q := &all[id]
	q.prev, q.next = c.last, -1
	if c.last >= 0 {
		all[c.last].next = id
	} else {
		c.first = id
	}
	c.last = id
}

// enqueue puts a request at the end of the queue at time t, up to which the server has advanced.
func (s *server) enqueue(id int32, t int64) {
	s.wait.push(*s.sequences, id)
	s.waiting++
	s.refused = false
	if !s.busy && s.pending == never {
		s.pending = t
	}
}

// start moves the first of the queue to the end of the running.
func (s *server) start() int32 {
	id := s.wait.first
	q := &(*s.sequences)[id]
	if s.wait.first = q.next; q.next >= 0 {
		(*s.sequences)[q.next].prev = -1
	} else {
		s.wait.last = -1
	}
	s.waiting--
	s.run.push(*s.sequences, id)
	s.running++
	return id
}

// unlink takes a sequence out of the running.
func (s *server) unlink(id int32) {
	q := &(*s.sequences)[id]
	if q.prev >= 0 {
		(*s.sequences)[q.prev].next = q.next
	} else {
		s.run.first = q.next
	}
	if q.next >= 0 {
		(*s.sequences)[q.next].prev = q.prev
	} else {
		s.run.last = q.prev
	}
	s.running--
}

// lose takes the replica down at time t, with the iteration in flight. It appends the requests that were
// here to out.
func (s *server) lose(t int64, out []int32) []int32 {
	if s.busy {
		s.use.Busy -= s.end - t
		s.use.Prompts = min(s.use.Prompts, s.use.Busy)
	}
	for id := s.run.first; id >= 0; id = (*s.sequences)[id].next {
		s.stop(id)
		out = append(out, id)
	}
	for id := s.wait.first; id >= 0; id = (*s.sequences)[id].next {
		out = append(out, id)
	}
	s.isDown = true
	s.reset(s.config)
	return out
}

func (s *server) pushEnding(e ending) {
	h := append(s.ends, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !h[i].precedes(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	s.ends = h
}

func (s *server) popEnding() ending {
	h := s.ends
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		low := 2*i + 1
		if low >= n {
			break
		}
		if low+1 < n && h[low+1].precedes(h[low]) {
			low++
		}
		if !h[low].precedes(h[i]) {
			break
		}
		h[i], h[low] = h[low], h[i]
		i = low
	}
	s.ends = h
	return top
}

func (e ending) precedes(o ending) bool {
	return e.step < o.step || e.step == o.step && e.start < o.start
}

// micros returns picoseconds as microseconds, rounded up, at least 1.
func micros(ps int64) int64 { return max(1, (ps+999_999)/1_000_000) }
