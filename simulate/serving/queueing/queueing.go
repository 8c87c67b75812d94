// Package queueing has closed forms of queues, and an approximation of continuous batching for times that
// are too long to play request by request.
package queueing
