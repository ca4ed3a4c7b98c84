import { defineConfig } from 'vite';

// The server sends the same policy as a header; here it holds wherever the built page is served from.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export default defineConfig({
  base: './',
  plugins: [
    {
      name: 'content-security-policy',
      // The development server injects styles and reload scripts that the policy would refuse.
      apply: 'build',
      transformIndexHtml: () => [
        {
          tag: 'meta',
          attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
          injectTo: 'head-prepend',
        },
      ],
    },
  ],
  build: {
    target: 'es2022',
    // A module or picture inside the script would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // The core's face is an entry of its own: the tests ask the very module that the page runs.
      input: { index: 'index.html', core: 'src/frames.ts' },
      preserveEntrySignatures: 'strict',
      output: {
        entryFileNames: ({ name }) => (name === 'core' ? 'assets/core.js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
