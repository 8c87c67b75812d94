package bundle

import (
	"time"

	"github.com/spf13/pflag"

	"capcli"
)

// Duration adds a flag for a length of time: as time.ParseDuration reads it, or with days and weeks as
// capcli.ParseSeconds does.
func Duration(f *pflag.FlagSet, to *time.Duration, name string, otherwise time.Duration, usage string) {
	*to = otherwise
	f.Var((*duration)(to), name, usage)
}

type duration time.Duration

func (d *duration) Type() string { return "duration" }

func (d *duration) String() string {
	if *d == 0 { // which pflag takes for no default
		return "0"
	}
	return time.Duration(*d).String()
}

func (d *duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		var s capcli.Seconds
		if s, err = capcli.ParseSeconds(text); err != nil {
			return err
		}
		v = time.Duration(s) * time.Second
	}
	*d = duration(v)
	return nil
}
