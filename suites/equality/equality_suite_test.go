package equality_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestEquality(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "The model, kernel by kernel, and the reference that knows no model")
}
