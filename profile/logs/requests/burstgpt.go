package requests

func init() {
	Formats.Add("burstgpt", "BurstGPT: Timestamp in seconds from its start, Model, Request tokens, Response tokens, Total tokens, Log Type",
		Format{Sniff: func(head []byte) bool { return hasColumns(head, "Timestamp", "Request tokens", "Response tokens") }, Read: readBurstGPT})
}

// readBurstGPT reads a trace of BurstGPT (github.com/HPMLL/BurstGPT), by the names of columns that it
// publishes. Requests that failed have 0 response tokens.
func readBurstGPT(r *Reader) error {
	if r.o.Unit == 0 {
		r.o.Unit = 1
		r.Note("times are whole seconds, so requests of one second come at once; requests: {spread: 1s} of a service spreads them")
	}
	return r.readColumns()
}
