import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["needs-redis.ts"] } });
