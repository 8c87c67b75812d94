// Package profile measures GPUs at work: it defines the metrics, the samples of them, the
// processes on GPUs and the events. A Source reads them, a Sink stores them, and a Sampler reads
// at regular times. Package profile/nvml has a Source of NVIDIA's library.
//
// A missing value has a Reason; it is never written as 0.
package profile
