package inference

func init() {
	// docs.sglang.ai, Production Metrics.
	Servers.Add("sglang", "SGLang", []Metric{
		{Requests, Counter, []string{"sglang:num_requests_total"}, 1},
		{Failed, Counter, []string{"sglang:num_aborted_requests_total"}, 1},
		{TokensIn, Counter, []string{"sglang:prompt_tokens_total"}, 1},
		{TokensOut, Counter, []string{"sglang:generation_tokens_total"}, 1},
		{Cached, Counter, []string{"sglang:cached_tokens_total"}, 1},
		{Running, Gauge, []string{"sglang:num_running_reqs"}, 1},
		{Waiting, Gauge, []string{"sglang:num_queue_reqs"}, 1},
		{CacheUse, Gauge, []string{"sglang:token_usage"}, 1},
		{TTFT, Histogram, []string{"sglang:time_to_first_token_seconds"}, 1},
		{TPOT, Histogram, []string{"sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"}, 1},
		{E2E, Histogram, []string{"sglang:e2e_request_latency_seconds"}, 1},
		{Queue, Histogram, []string{"sglang:queue_time_seconds"}, 1},
		{InLength, Histogram, []string{"sglang:prompt_tokens_histogram"}, 1},
		{OutLength, Histogram, []string{"sglang:generation_tokens_histogram"}, 1},
	})
}
