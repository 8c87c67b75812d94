package requests

import "slices"

func init() {
	Formats.Add("csv", "a table with a header: arrival_us, tokens_in, tokens_out, and cached, prefix, user, model where known; other names are known or mapped",
		Format{Sniff: sniffCSV, Read: (*Reader).readColumns, General: true})
}

// sniffCSV reports whether the header names a time, tokens in and tokens out.
func sniffCSV(head []byte) bool { return len(headerOf(head)) > 0 && namesAll(headerOf(head)) }

// namesAll reports whether names has one for the time, the tokens in and the tokens out.
func namesAll(names []string) bool { return namesColumns(names, colArrival, colIn, colOut) }

// hasLengths reports whether names has one for the tokens in and the tokens out.
func hasLengths(names []string) bool { return namesColumns(names, colIn, colOut) }

func namesColumns(names []string, columns ...int) bool {
	for _, i := range columns {
		if !slices.ContainsFunc(names, func(have string) bool {
			return slices.ContainsFunc(aliases[i], func(a alias) bool { return plainName(a.name) == plainName(have) })
		}) {
			return false
		}
	}
	return true
}
