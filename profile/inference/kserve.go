package inference

func init() {
	// kserve.github.io, Prometheus metrics of the Python model server. The runtimes vLLM and Triton
	// under KServe tell metrics of their own.
	Servers.Add("kserve", "KServe's Python model server", []Metric{
		{Requests, Histogram, []string{"request_predict_seconds"}, 1},
		{E2E, Histogram, []string{"request_predict_seconds"}, 1},
	})
	// knative.dev, Serving metrics: those of the queue proxy, of OpenTelemetry and before it, when
	// times were in milliseconds.
	Servers.Add("knative", "Knative Serving's queue proxy since its OpenTelemetry metrics, which KServe uses too", []Metric{
		{Requests, Histogram, []string{"kn_serving_invocation_duration_seconds"}, 1},
		{Waiting, Gauge, []string{"kn_serving_queue_depth"}, 1},
		{E2E, Histogram, []string{"kn_serving_invocation_duration_seconds"}, 1},
	})
	Servers.Add("knative-revision", "Knative Serving's queue proxy before: revision_request_count", []Metric{
		{Requests, Counter, []string{"revision_app_request_count", "revision_request_count"}, 1},
		{Waiting, Gauge, []string{"revision_queue_depth"}, 1},
		{E2E, Histogram, []string{"revision_app_request_latencies", "revision_request_latencies"}, 1e-3},
	})
}
