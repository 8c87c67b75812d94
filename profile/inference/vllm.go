package inference

func init() {
	// docs.vllm.ai, Production Metrics; names before and after version 0.9.
	Servers.Add("vllm", "vLLM", []Metric{
		{Requests, Counter, []string{"vllm:request_success_total"}, 1},
		{TokensIn, Counter, []string{"vllm:prompt_tokens_total"}, 1},
		{TokensOut, Counter, []string{"vllm:generation_tokens_total"}, 1},
		{Cached, Counter, []string{"vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"}, 1},
		{Queried, Counter, []string{"vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"}, 1},
		{Running, Gauge, []string{"vllm:num_requests_running"}, 1},
		{Waiting, Gauge, []string{"vllm:num_requests_waiting"}, 1},
		{CacheUse, Gauge, []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"}, 1},
		{TTFT, Histogram, []string{"vllm:time_to_first_token_seconds"}, 1},
		{TPOT, Histogram, []string{"vllm:request_time_per_output_token_seconds", "vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"}, 1},
		{E2E, Histogram, []string{"vllm:e2e_request_latency_seconds"}, 1},
		{Queue, Histogram, []string{"vllm:request_queue_time_seconds"}, 1},
		{InLength, Histogram, []string{"vllm:request_prompt_tokens"}, 1},
		{OutLength, Histogram, []string{"vllm:request_generation_tokens"}, 1},
	})
}
