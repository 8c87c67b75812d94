package serving

func init() {
	Batchings.Add("static", "a batch runs until all its answers are complete; nobody joins it", static{})
}

// static is batching of requests as servers did before continuous batching: a batch is admitted only where
// nobody runs, and runs until its last answer is complete (Yu et al., "Orca: A Distributed Serving System
// for Transformer-Based Generative Models", OSDI 2022, section 2, describes it). A sequence that was
// preempted waits for the next batch.
type static struct{}

func (static) Check(c *Config) error { return prefillFirst{}.Check(c) }

func (static) Form(s *server) {
	if s.running == 0 {
		s.admit(s.config.MaxTokens, true)
		return
	}
	s.decodeAll()
	s.refused = true
}
