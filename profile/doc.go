// Package profile holds what is known of GPUs at work: the metrics, one sample
// of them, the processes that ran and the events that befell. It says how they
// are taken (Source), kept (Sink) and paced (Sampler); profile/nvml is a Source
// and profile/parquet a Sink.
//
// A figure that is not there has a Reason; it is never written as 0.
package profile
