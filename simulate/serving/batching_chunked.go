package serving

func init() {
	Batchings.Add("chunked", "decoding sequences first; prompts fill the rest of the iteration in pieces", chunked{})
}

// chunked is the scheduler of vLLM's V1 engine: each iteration has a budget of tokens. Running sequences
// take theirs in order of their start; then waiting ones are admitted, with prompts cut to what is left
// (Agrawal et al., "Taming Throughput-Latency Tradeoff in LLM Inference with Sarathi-Serve", OSDI 2024).
// Nobody is admitted in an iteration that preempted.
//
// At most one running sequence has an incomplete prompt, and it is the last: a prompt is cut only where
// the budget ends, and nobody is admitted behind it before it is complete. Everybody who runs is in every
// batch, because admission leaves each at least one token of the budget.
type chunked struct{}

func (chunked) Check(*Config) error { return nil }

func (chunked) Form(s *server) {
	preempted := s.decodeAll()
	budget := s.config.MaxTokens - s.decode
	n, cut := s.resume(budget)
	if !preempted && !cut {
		s.admit(budget-n, false)
	}
}
