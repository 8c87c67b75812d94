package inference

func init() {
	// docs.nvidia.com, Triton Inference Server, Metrics. Its durations are totals in microseconds; it
	// tells no tokens.
	Servers.Add("triton", "NVIDIA Triton Inference Server", []Metric{
		{Requests, Counter, []string{"nv_inference_request_success"}, 1},
		{Failed, Counter, []string{"nv_inference_request_failure"}, 1},
		{Waiting, Gauge, []string{"nv_inference_pending_request_count"}, 1},
		{TTFT, Histogram, []string{"nv_inference_first_response_histogram_ms"}, 1e-3},
		{E2E, Total, []string{"nv_inference_request_duration_us"}, 1e-6},
		{Queue, Total, []string{"nv_inference_queue_duration_us"}, 1e-6},
	})
}
