package profile

// Reason says why a value is missing. The zero value, Known, means that it is not missing.
type Reason uint8

// The reasons. Files store them by name, so that new ones can be added.
const (
	Known        Reason = iota // the value is there
	NotAsked                   // not sampled in this tick or with these options
	Unsupported                // the GPU or the source does not provide it
	NoSymbol                   // the driver's library is too old
	NoPermission               // the user may not read it
	UnderMIG                   // not available while MIG divides the GPU
	First                      // needs an earlier sample for comparison
	Lost                       // the GPU fell off the bus
	Timeout                    // the driver did not answer in time
	OutOfRange                 // the answer is impossible: a blank or a known fault of the driver
	Failed                     // any other error
	numReasons
)

var reasonNames = [numReasons]string{
	"known", "not asked", "not supported", "driver too old", "no permission", "divided by MIG",
	"first sample", "GPU lost", "no answer in time", "out of range", "failed",
}

// String returns the reason in words.
func (r Reason) String() string {
	if r >= numReasons {
		return "unknown reason"
	}
	return reasonNames[r]
}

// ReasonNamed returns the reason with the given words, or Failed for unknown words, as in a file
// of a later version.
func ReasonNamed(words string) Reason {
	for r := range numReasons {
		if reasonNames[r] == words {
			return r
		}
	}
	return Failed
}
