// Package requests reads traces of requests to language models: when each came, its tokens in and out.
package requests
