package profile

// Reason says why a figure is not there. The zero value is that it is there.
type Reason uint8

// The reasons. They are kept on disk by their names, so that new ones may come.
const (
	Known        Reason = iota // the figure is there
	NotAsked                   // not sampled in this tick or with these options
	Unsupported                // this GPU or source does not tell it
	NoSymbol                   // the driver's library is too old to be asked
	NoPermission               // not for this user
	UnderMIG                   // not told while the GPU is divided
	First                      // needs an earlier sample to compare with
	Lost                       // the GPU fell off the bus
	Timeout                    // the driver did not answer in time
	OutOfRange                 // the answer cannot be: a blank or a known fault of the driver
	Failed                     // any other error
	numReasons
)

var reasonNames = [numReasons]string{
	"known", "not asked", "not supported", "driver too old", "no permission", "divided by MIG",
	"first sample", "GPU lost", "no answer in time", "out of range", "failed",
}

// String gives the reason in words.
func (r Reason) String() string {
	if r >= numReasons {
		return "unknown reason"
	}
	return reasonNames[r]
}

// ReasonNamed finds a reason by its words; Failed where there is none such, as
// in a file that a later version wrote.
func ReasonNamed(words string) Reason {
	for r := range numReasons {
		if reasonNames[r] == words {
			return r
		}
	}
	return Failed
}
