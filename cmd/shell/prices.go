package shell

import (
	"github.com/spf13/cobra"

	"capcli/scenarios/money/prices"
)

// AddPricesFlag adds --prices, the flag for a price file, which is the same in all commands.
func AddPricesFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "prices", "", "your own prices, `FILE` (csv, yaml); they override the catalogue")
}

// ReadPrices returns the catalogue. Prices in file, if it is named, take precedence.
func ReadPrices(e *Env, file string) (*prices.List, error) {
	own, err := OwnPrices(e, file)
	if err != nil {
		return nil, err
	}
	return own.Override(prices.Catalogue()), nil
}

// OwnPrices reads a price file; nil where file is "".
func OwnPrices(e *Env, file string) (*prices.List, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // no price file is no error
	}
	b, err := ReadFile(e, file, prices.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	return prices.Parse(file, b)
}
