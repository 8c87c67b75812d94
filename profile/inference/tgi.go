package inference

func init() {
	// huggingface.co/docs/text-generation-inference, Metrics.
	Servers.Add("tgi", "Hugging Face Text Generation Inference", []Metric{
		{Requests, Counter, []string{"tgi_request_success", "tgi_request_success_total"}, 1},
		{Failed, Counter, []string{"tgi_request_failure", "tgi_request_failure_total"}, 1},
		{TokensIn, Counter, []string{"tgi_request_input_length_sum"}, 1},
		{TokensOut, Counter, []string{"tgi_request_generated_tokens_sum"}, 1},
		{Running, Gauge, []string{"tgi_batch_current_size"}, 1},
		{Waiting, Gauge, []string{"tgi_queue_size"}, 1},
		{TPOT, Histogram, []string{"tgi_request_mean_time_per_token_duration"}, 1},
		{E2E, Histogram, []string{"tgi_request_duration"}, 1},
		{Queue, Histogram, []string{"tgi_request_queue_duration"}, 1},
		{InLength, Histogram, []string{"tgi_request_input_length"}, 1},
		{OutLength, Histogram, []string{"tgi_request_generated_tokens"}, 1},
	})
}
