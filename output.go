package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// writeJSON prints one value, indented, and ends the line.
func writeJSON(out io.Writer, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if _, err := out.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}
